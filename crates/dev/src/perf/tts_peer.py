"""Speaks a text with piper-tts, sentence by sentence as it streams, and prints one JSON object.

usage: tts_peer.py VOICE.onnx TEXT_FILE
"""

import json
import sys
import time
from importlib.metadata import version

started = time.perf_counter()
from piper import PiperVoice  # noqa: E402

voice = PiperVoice.load(sys.argv[1])
loaded = time.perf_counter()
text = open(sys.argv[2], encoding="utf-8").read()
first, samples = None, 0
begun = time.perf_counter()
for chunk in voice.synthesize(text):
    first = first or time.perf_counter() - begun
    samples += len(chunk.audio_int16_bytes) // 2
    rate = chunk.sample_rate
total = time.perf_counter() - begun
print(
    json.dumps(
        {
            "version": version("piper-tts"),
            "load_ms": (loaded - started) * 1e3,
            "first_chunk_ms": first * 1e3,
            "synthesis_ms": total * 1e3,
            "seconds": samples / rate,
        }
    )
)
