"""What ONNX Runtime and openWakeWord make of WAV files: one JSON object a file, in a list.

Arguments: the VAD's ONNX file, then 16 kHz 16-bit mono WAV files of at least 4 s.
mel: per hop of 1280 samples, from the last 1760. embeddings: per hop, once 76 frames are there.
scores: per frame and head, by the Python package itself; heads: the same from the embeddings above.
"""

import json
import os
import sys
import wave

import numpy as np
import onnxruntime
import openwakeword

options = onnxruntime.SessionOptions()
options.inter_op_num_threads = options.intra_op_num_threads = 1
MODELS = os.path.join(os.path.dirname(openwakeword.__file__), "resources", "models")
HEADS = ["alexa_v0.1", "hey_jarvis_v0.1", "hey_marvin_v0.1", "hey_mycroft_v0.1", "timer_v0.1", "weather_v0.1"]


def session(path):
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


melspectrogram = session(os.path.join(MODELS, "melspectrogram.onnx"))
embedding = session(os.path.join(MODELS, "embedding_model.onnx"))
heads = {name: session(os.path.join(MODELS, name + ".onnx")) for name in HEADS}
silero = session(sys.argv[1])


def features(samples):
    """Per hop the spectrogram's frames, and every embedding."""
    mel, frames, embeddings = [], np.zeros((0, 32), np.float32), []
    for end in range(1280, len(samples) + 1, 1280):
        part = samples[max(0, end - 1760) : end].astype(np.float32)[None]
        now = np.squeeze(melspectrogram.run(None, {"input": part})[0]) / 10 + 2
        mel.append(now.ravel().tolist())
        frames = np.vstack((frames, now))[-76:]
        if len(frames) == 76:
            found = embedding.run(None, {"input_1": frames[None, :, :, None].astype(np.float32)})[0]
            embeddings.append(found.ravel())
    return mel, embeddings


def head_scores(embeddings):
    found = {}
    for name, head in heads.items():
        port = head.get_inputs()[0]
        length = port.shape[1]
        windows = [np.stack(embeddings[at : at + length])[None] for at in range(len(embeddings) - length + 1)]
        found[name] = [head.run(None, {port.name: window})[0].ravel().tolist() for window in windows]
    return found


def package_scores(samples):
    """By the package, frame after frame."""
    paths = [os.path.join(MODELS, "hey_jarvis_v0.1.onnx"), os.path.join(MODELS, "alexa_v0.1.onnx")]
    model = openwakeword.Model(wakeword_model_paths=paths)
    found = {}
    for start in range(0, len(samples) - 1279, 1280):
        for name, score in model.predict(samples[start : start + 1280]).items():
            found.setdefault(name, []).append(float(score))
    return found


def voice(samples):
    state, context, found = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32), []
    scaled = samples.astype(np.float32) / 32768
    for start in range(0, len(scaled) - 511, 512):
        block = np.concatenate((context, scaled[start : start + 512]))
        rate = np.array(16000, np.int64)
        out, state = silero.run(None, {"input": block[None], "state": state, "sr": rate})
        context = block[-64:]
        found.append(float(out[0][0]))
    return found


def golden(path):
    with wave.open(path, "rb") as file:
        assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (16000, 2, 1), path
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    mel, embeddings = features(samples)
    return {
        "models": MODELS,
        "mel": mel,
        "embeddings": [found.tolist() for found in embeddings],
        "heads": head_scores(embeddings),
        "scores": package_scores(samples),
        "voice": voice(samples),
    }


json.dump([golden(path) for path in sys.argv[2:]], sys.stdout)
