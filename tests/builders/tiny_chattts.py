"""A ChatTTS model of random weights, 3 MB, in the published layout: real code, no meaning in its sounds."""

import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path

_HIDDEN, _AUDIO = 64, 626
_SPECIAL = [
    "[UNK]", "[PAD]", "[SEP]", "[CLS]", "[MASK]",
]  # fmt: skip
_CONTROL = [
    "[Sbreak]", "[Pbreak]", "[Ebreak]", "[Stts]", "[Ptts]", "[spk_emb]", "[empty_spk]",
    "[uv_break]", "[v_break]", "[lbreak]", "[laugh]",
    *(f"[break_{k}]" for k in range(8)), *(f"[laugh_{k}]" for k in range(3)),
    *(f"[oral_{k}]" for k in range(10)), *(f"[speed_{k}]" for k in range(10)),
]  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz,.，。、" + "今天我们去北京好吗你说的是"


def _vocabulary() -> list[str]:
    letters = list(dict.fromkeys(_LETTERS))
    return [*_SPECIAL, *letters, *(f"##{char}" for char in letters), *_CONTROL]


def _config(n_words: int) -> dict[str, object]:
    import numpy as np
    import pybase16384

    statistics = np.concatenate([np.full(_HIDDEN, 1.0), np.zeros(_HIDDEN)]).astype(np.float16)
    small = {"n_layer": 2, "bn_dim": 8}
    counts = {"hidden_size": _HIDDEN, "num_audio_tokens": _AUDIO, "num_text_tokens": n_words, "num_vq": 4}
    return {
        "spk_stat": pybase16384.encode_to_string(statistics.tobytes()),
        "decoder": {"idim": _HIDDEN // 2, "odim": _HIDDEN // 2, "hidden": 32, **small},
        "dvae": {
            "encoder": {"idim": 32, "odim": 64, "hidden": 32, **small},
            "decoder": {"idim": 32, "odim": 32, "hidden": 32, **small},
            "vq": {"dim": 64},
        },
        "gpt": {
            **counts,
            "intermediate_size": 96,
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "spk_emb_dim": 16,
        },
        "embed": counts,
        "vocos": {"backbone": {"init_args": {"dim": 32, "intermediate_dim": 64, "num_layers": 2}},
                  "head": {"init_args": {"dim": 32}}},
    }  # fmt: skip


def _write_tokenizer(folder: Path, words: list[str]) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertTokenizerFast

    model = models.WordPiece({word: k for k, word in enumerate(words)}, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fast = BertTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", sep_token="[SEP]", cls_token="[CLS]",
        mask_token="[MASK]", additional_special_tokens=_CONTROL,
    )  # fmt: skip
    fast.save_pretrained(folder)
    special = folder / "special_tokens_map.json"
    if not special.is_file():  # newer transformers keep it in tokenizer_config.json
        special.write_text("{}")


def make_tiny_chattts(folder: Path) -> Path:
    """Write the nine files and ``duplexkit.json``; return the folder."""
    import torch
    from ChatTTS.config import Config
    from ChatTTS.model import DVAE, Embed
    from safetensors.torch import save_file
    from transformers import LlamaConfig, LlamaModel
    from vocos import Vocos
    from vocos.pretrained import instantiate_class

    from duplexkit.builders.speakers.chattts_settings import settings_of

    torch.manual_seed(7)
    words = _vocabulary()
    changes = _config(len(words))
    config = settings_of(Config(), changes)
    asset = folder / "asset"
    (asset / "gpt").mkdir(parents=True)
    _write_tokenizer(asset / "tokenizer", words)

    def save(module: torch.nn.Module, name: str) -> None:
        save_file(
            {key: value.contiguous().clone() for key, value in module.state_dict().items()}, asset / name
        )

    parts = [instantiate_class(args=(), init=asdict(getattr(config.vocos, name)))
             for name in ("feature_extractor", "backbone", "head")]  # fmt: skip
    save(Vocos(feature_extractor=parts[0], backbone=parts[1], head=parts[2]), "Vocos.safetensors")
    dvae = DVAE(
        decoder_config=asdict(config.dvae.decoder), encoder_config=asdict(config.dvae.encoder),
        vq_config=asdict(config.dvae.vq), dim=config.dvae.decoder.idim,
    )  # fmt: skip
    save(dvae, "DVAE.safetensors")
    save(DVAE(decoder_config=asdict(config.decoder), dim=config.decoder.idim), "Decoder.safetensors")
    embed = Embed(_HIDDEN, _AUDIO, len(words), 4)
    for head in embed.head_code:  # the end comes up often enough: clips of a second or so
        head.parametrizations.weight.original0.data[_AUDIO - 1] *= 5
    save(embed, "Embed.safetensors")
    llama = LlamaConfig(
        hidden_size=_HIDDEN, intermediate_size=96, num_attention_heads=4, num_hidden_layers=2, vocab_size=32,
        max_position_embeddings=4096,
    )  # fmt: skip
    LlamaModel(llama).save_pretrained(asset / "gpt")
    sha256 = {}
    for path in asset.rglob("*"):
        if path.is_file():
            key = "sha256_" + re.sub(r"[./]", "_", path.relative_to(folder).as_posix())
            sha256[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "duplexkit.json").write_text(
        json.dumps({"config": changes, "sha256": sha256}), encoding="utf-8"
    )
    return folder
