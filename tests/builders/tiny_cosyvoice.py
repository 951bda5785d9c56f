"""A CosyVoice2 model of random weights in the published layout: real code, no meaning in its sounds."""

from pathlib import Path

_SETTINGS = """
sample_rate: 24000
qwen_pretrain_path: ''
llm: !new:cosyvoice.llm.llm.Qwen2LM
    llm_input_size: 32
    llm_output_size: 32
    speech_token_size: 256
    length_normalized_loss: True
    lsm_weight: 0
    llm: !new:cosyvoice.llm.llm.Qwen2Encoder
        pretrain_path: !ref <qwen_pretrain_path>
    sampling: !name:cosyvoice.utils.common.ras_sampling
        top_p: 0.8
        top_k: 25
        win_size: 10
        tau_r: 0.1
flow: !new:cosyvoice.flow.flow.CausalMaskedDiffWithXvec
    input_size: 512
    output_size: 80
    spk_embed_dim: 192
    output_type: 'mel'
    vocab_size: 256
    input_frame_rate: 25
    only_mask_loss: True
    token_mel_ratio: 2
    pre_lookahead_len: 3
    encoder: !new:cosyvoice.transformer.upsample_encoder.UpsampleConformerEncoder
        input_size: 512
        output_size: 512
        attention_heads: 8
        linear_units: 32
        num_blocks: 1
        dropout_rate: 0.1
        positional_dropout_rate: 0.1
        attention_dropout_rate: 0.1
        normalize_before: True
        input_layer: 'linear'
        pos_enc_layer_type: 'rel_pos_espnet'
        selfattention_layer_type: 'rel_selfattn'
        use_cnn_module: False
        macaron_style: False
        static_chunk_size: 25
    decoder: !new:cosyvoice.flow.flow_matching.CausalConditionalCFM
        in_channels: 240
        n_spks: 1
        spk_emb_dim: 80
        cfm_params: !new:omegaconf.DictConfig
            content:
                sigma_min: 1e-06
                solver: 'euler'
                t_scheduler: 'cosine'
                training_cfg_rate: 0.2
                inference_cfg_rate: 0.7
                reg_loss_type: 'l1'
        estimator: !new:cosyvoice.flow.decoder.CausalConditionalDecoder
            in_channels: 320
            out_channels: 80
            channels: [32]
            dropout: 0.0
            attention_head_dim: 8
            n_blocks: 1
            num_mid_blocks: 1
            num_heads: 4
            act_fn: 'gelu'
            static_chunk_size: 50
hift: !new:cosyvoice.hifigan.generator.HiFTGenerator
    in_channels: 80
    base_channels: 32
    nb_harmonics: 8
    sampling_rate: !ref <sample_rate>
    nsf_alpha: 0.1
    nsf_sigma: 0.003
    nsf_voiced_threshold: 10
    upsample_rates: [8, 5, 3]
    upsample_kernel_sizes: [16, 11, 7]
    istft_params:
        n_fft: 16
        hop_len: 4
    resblock_kernel_sizes: [3, 7, 11]
    resblock_dilation_sizes: [[1, 3, 5], [1, 3, 5], [1, 3, 5]]
    source_resblock_kernel_sizes: [7, 7, 11]
    source_resblock_dilation_sizes: [[1, 3, 5], [1, 3, 5], [1, 3, 5]]
    lrelu_slope: 0.1
    audio_limit: 0.99
    f0_predictor: !new:cosyvoice.hifigan.f0_predictor.ConvRNNF0Predictor
        num_class: 1
        in_channels: 80
        cond_channels: 32
get_tokenizer: !name:cosyvoice.tokenizer.tokenizer.get_qwen_tokenizer
    token_path: !ref <qwen_pretrain_path>
    skip_special_tokens: True
allowed_special: 'all'
feat_extractor: !name:matcha.utils.audio.mel_spectrogram
    n_fft: 1920
    num_mels: 80
    sampling_rate: !ref <sample_rate>
    hop_size: 480
    win_size: 1920
    fmin: 0
    fmax: 8000
    center: False
"""


def _write_language_model(folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={char: k for k, char in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    config = Qwen2Config(
        vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=2048,
    )  # fmt: skip
    Qwen2ForCausalLM(config).save_pretrained(folder)


def _write_networks(folder: Path) -> None:
    """Write the two networks that hear the reference: any of the right shapes will do."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    def save(nodes: list, inputs: list, outputs: list, values: dict, name: str) -> None:
        graph = helper.make_graph(
            nodes,
            name,
            inputs,
            outputs,
            [numpy_helper.from_array(value, key) for key, value in values.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, folder / name)

    weights = np.random.default_rng(1).standard_normal((80, 192)).astype(np.float32)
    save(
        [
            helper.make_node("ReduceMean", ["feat"], ["mean"], axes=[1], keepdims=0),
            helper.make_node("MatMul", ["mean", "weights"], ["embedding"]),
        ],
        [helper.make_tensor_value_info("feat", TensorProto.FLOAT, [1, "t", 80])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, 192])],
        {"weights": weights},
        "campplus.onnx",
    )
    save(
        [  # every fourth frame of one band is a token: 25 a second
            helper.make_node("Slice", ["feats", "starts", "ends", "axes", "steps"], ["band"]),
            helper.make_node("Mul", ["band", "scale"], ["scaled"]),
            helper.make_node("Abs", ["scaled"], ["positive"]),
            helper.make_node("Cast", ["positive"], ["whole"], to=TensorProto.INT32),
            helper.make_node("Mod", ["whole", "count"], ["counted"]),
            helper.make_node("Mul", ["length", "zero"], ["nothing"]),
            helper.make_node("Add", ["counted", "nothing"], ["tokens"]),
        ],
        [
            helper.make_tensor_value_info("feats", TensorProto.FLOAT, [1, 128, "t"]),
            helper.make_tensor_value_info("length", TensorProto.INT32, [1]),
        ],
        [helper.make_tensor_value_info("tokens", TensorProto.INT32, [1, 1, "n"])],
        {
            "starts": np.array([0, 0]),
            "ends": np.array([1, 2**31 - 1]),
            "axes": np.array([1, 2]),
            "steps": np.array([1, 4]),
            "scale": np.array(100, dtype=np.float32),
            "count": np.array(256, dtype=np.int32),
            "zero": np.array(0, dtype=np.int32),
        },
        "speech_tokenizer_v2.onnx",
    )


def make_tiny_cosyvoice(folder: Path) -> Path:
    """Write the model; return the folder."""
    import torch
    from hyperpyyaml import load_hyperpyyaml

    torch.manual_seed(7)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cosyvoice2.yaml").write_text(_SETTINGS)
    _write_language_model(folder / "CosyVoice-BlankEN")
    _write_networks(folder)
    with (folder / "cosyvoice2.yaml").open() as file:
        parts = load_hyperpyyaml(file, overrides={"qwen_pretrain_path": str(folder / "CosyVoice-BlankEN")})
    states = {name: parts[name].state_dict() for name in ("llm", "flow", "hift")}
    states["llm"]["llm_decoder.bias"][256:] += 4.0  # the end comes up often enough
    states["hift"] = {f"generator.{key}": value for key, value in states["hift"].items()}
    for name, state in states.items():
        for ending in ("", "-original"):  # upstream's name, and that of the package on the registry
            torch.save(state, folder / f"{name}{ending}.pt")
    return folder
