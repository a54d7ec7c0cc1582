"""Transcribes files with faster-whisper and pywhispercpp, and prints one JSON object.

usage: stt_peers.py CT2_FOLDER GGML_FILE THREADS TIMES FILE…
Both decode as ours does: English, greedy, no fallback, no context. The fastest of TIMES counts for each file.
"""

import json
import sys
import time
import wave
from importlib.metadata import version

import numpy
from faster_whisper import WhisperModel
from pywhispercpp.model import Model

folder, ggml, threads, times = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
files = sys.argv[5:]


def samples(path):
    with wave.open(path) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (16000, 1, 2), path
        data = sound.readframes(sound.getnframes())
    return numpy.frombuffer(data, dtype=numpy.int16).astype(numpy.float32) / 32768


def measured(hear):
    rows = []
    for path in files:
        sound = samples(path)
        best, text = float("inf"), ""
        for _ in range(times):
            started = time.perf_counter()
            text = hear(sound)
            best = min(best, time.perf_counter() - started)
        rows.append({"text": text.strip(), "seconds": best})
    return rows


def faster(kind):
    model = WhisperModel(folder, device="cpu", compute_type=kind, cpu_threads=threads, num_workers=1)

    def hear(sound):
        segments, _ = model.transcribe(
            sound, language="en", beam_size=1, best_of=1, temperature=0.0, condition_on_previous_text=False, vad_filter=False
        )
        return " ".join(segment.text.strip() for segment in segments)

    return measured(hear)


def cpp():
    model = Model(ggml, n_threads=threads, redirect_whispercpp_logs_to=None, print_progress=False, print_realtime=False)

    def hear(sound):
        segments = model.transcribe(
            sound, language="en", no_context=True, temperature=0.0, temperature_inc=0.0, greedy={"best_of": 1}
        )
        return " ".join(segment.text.strip() for segment in segments)

    return measured(hear)


result = {
    "faster-whisper": version("faster-whisper"),
    "ctranslate2": version("ctranslate2"),
    "pywhispercpp": version("pywhispercpp"),
    "arms": {
        "faster-whisper int8": faster("int8"),
        "faster-whisper float32": faster("float32"),
        "pywhispercpp f16": cpp(),
    },
}
json.dump(result, sys.stdout)
