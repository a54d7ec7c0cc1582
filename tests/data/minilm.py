"""all-MiniLM-L6-v2 in NumPy: BERT, mean over words, length 1. Arguments: the model's folder, a JSON list of texts."""
import json
import sys
from math import erf

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

folder, texts = sys.argv[1], json.load(open(sys.argv[2]))
config = json.load(open(folder + "/config.json"))
w = {name.removeprefix("bert."): tensor for name, tensor in load_file(folder + "/model.safetensors").items()}
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.enable_truncation(256)
tokenizer.no_padding()
heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
gelu = np.vectorize(lambda x: 0.5 * x * (1 + erf(x / 2**0.5)))


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * w[name + ".weight"] + w[name + ".bias"]


def linear(x, name):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def split(x):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def embed(text):
    ids = tokenizer.encode(text).ids
    e = "embeddings."
    x = w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][: len(ids)]
    x = norm((x + w[e + "token_type_embeddings.weight"][0]).astype(np.float64), e + "LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}."
        q, k, v = (split(linear(x, name + "attention.self." + part)) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weights / weights.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + linear(mixed, name + "attention.output.dense"), name + "attention.output.LayerNorm")
        inner = gelu(linear(x, name + "intermediate.dense"))
        x = norm(x + linear(inner, name + "output.dense"), name + "output.LayerNorm")
    mean = x.mean(0)
    return (mean / np.linalg.norm(mean)).tolist()


json.dump([embed(text) for text in texts], sys.stdout)
