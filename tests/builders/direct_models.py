"""Random weights where packages look for theirs, and what the packages say when they are asked without duplexkit.

A script of its own, ``direct_models.py make|rate squim|utmosv2|comet``, since COMET has an environment of its own.
`rate` reads JSON and prints JSON. Nothing of duplexkit is imported.
"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    verb, name = sys.argv[1:]
    if verb == "make":
        {"squim": make_squim, "utmosv2": make_utmosv2, "comet": make_comet}[name]()
        return
    given = json.load(sys.stdin)
    sys.stdout, answers = sys.stderr, sys.stdout
    scores = {"squim": rate_squim, "utmosv2": rate_utmosv2, "comet": rate_comet}[name](given)
    print(json.dumps(scores), file=answers)


def in_hub(repo: str) -> Path:
    """Return the folder of a repository in the Hub's cache, as if its main branch had been downloaded."""
    folder = Path(os.environ["HF_HOME"]) / "hub" / f"models--{repo.replace('/', '--')}"
    commit = "0" * 40
    snapshot = folder / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(commit)
    return snapshot


def at_16_khz(path: str):
    import soundfile
    import soxr

    samples, rate = soundfile.read(path, dtype="float32")
    n = (2 * samples.size * 16_000 + rate) // (2 * rate)
    return soxr.resample(samples, rate, 16_000, quality="HQ")[:n]


def make_squim() -> None:
    """The true architecture, with last layers so steep, centred on noise, that clips differ by more than rounding."""
    import torch
    from torchaudio.models import squim_objective_base

    torch.manual_seed(1)
    network = squim_objective_base()
    with torch.no_grad():
        heard = network.dprnn(network.encoder(torch.randn(1, 16_000) / 20))
        for transform, pool, head in network.branches:
            head[2].weight.mul_(300)
            head[2].bias.sub_(head[:3](pool(transform(heard)))[0])
    path = Path(os.environ["TORCH_HOME"], "hub", "torchaudio", "models", "squim_objective_dns2020.pth")
    path.parent.mkdir(parents=True)
    torch.save(network.state_dict(), path)


def rate_squim(paths: list[str]) -> list[list[float]]:
    import torch
    from torchaudio.pipelines import SQUIM_OBJECTIVE

    network = SQUIM_OBJECTIVE.get_model()
    with torch.no_grad():
        found = [network(torch.from_numpy(at_16_khz(path)).unsqueeze(0)) for path in paths]
    return [[float(stoi), float(pesq)] for stoi, pesq, _ in found]


def make_utmosv2() -> None:
    """The true networks but for wav2vec2, of which there are two narrow layers for twelve."""
    import timm
    import torch
    from safetensors.torch import save_file
    from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    torch.manual_seed(2)
    folder = in_hub("facebook/wav2vec2-base")
    narrow = {"num_hidden_layers": 2, "intermediate_size": 64, "num_conv_pos_embeddings": 16}
    Wav2Vec2Model(Wav2Vec2Config(conv_dim=(16,) * 7, **narrow)).save_pretrained(folder)
    Wav2Vec2FeatureExtractor().save_pretrained(folder)
    name = "tf_efficientnetv2_s.in21k_ft_in1k"
    images = timm.create_model(name, pretrained=False)
    save_file(images.state_dict(), in_hub(f"timm/{name}") / "model.safetensors", metadata={"format": "pt"})
    import utmosv2

    network = utmosv2.create_model(pretrained=False)
    path = Path(os.environ["UTMOSV2_CHACHE"], "models", "fusion_stage3", "fold0_s42_best_model.pth")
    path.parent.mkdir(parents=True)
    torch.save(network.state_dict(), path)


def rate_utmosv2(clips: list[tuple[str, int]]) -> list[float]:
    """Each clip after numpy's global state was seeded with the number beside it."""
    import numpy as np
    import utmosv2

    network = utmosv2.create_model(pretrained=True, device="cpu")
    scores = []
    for path, seed in clips:
        np.random.seed(seed)  # noqa: NPY002 - the package takes no generator
        scores.append(float(network.predict(data=at_16_khz(path), sr=16_000, device="cpu").item()))
    return scores


def make_comet() -> None:
    """The class and settings of wmt22-cometkiwi-da over a tiny XLM-R, whose tokenizer knows this file."""
    import pytorch_lightning
    import sentencepiece
    import torch
    import yaml
    from comet.models import UnifiedMetric
    from transformers import XLMRobertaConfig

    torch.manual_seed(3)
    folder = in_hub("microsoft/infoxlm-large")
    sentencepiece.SentencePieceTrainer.train(
        input=__file__, model_prefix=str(folder / "sentencepiece.bpe"), vocab_size=300, hard_vocab_limit=False
    )
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.bpe.model"))
    XLMRobertaConfig(
        vocab_size=pieces.get_piece_size() + 2,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=514,
        initializer_range=1.0,
    ).save_pretrained(folder)
    settings = {
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": "microsoft/infoxlm-large",
        "sent_layer": "mix",
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "hidden_sizes": [48, 16],
        "input_segments": ["mt", "src"],
        "word_level_training": False,
    }
    model = UnifiedMetric(**settings, load_pretrained_weights=False)
    trainer = pytorch_lightning.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.strategy.connect(model)
    folder = in_hub("Unbabel/wmt22-cometkiwi-da")
    trainer.save_checkpoint(folder / "checkpoints" / "model.ckpt", weights_only=True)
    about = yaml.safe_dump({"class_identifier": "unified_metric", **settings})
    (folder / "hparams.yaml").write_text(about)


def rate_comet(pairs: list[dict[str, str]]) -> list[float]:
    """Each pair by itself."""
    import comet

    model = comet.load_from_checkpoint(comet.download_model("Unbabel/wmt22-cometkiwi-da"))
    return [model.predict([pair], batch_size=1, gpus=0)["scores"][0] for pair in pairs]


if __name__ == "__main__":
    main()
