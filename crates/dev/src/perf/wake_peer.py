"""openWakeWord on ONNX Runtime, one thread, on a raw file of 16-bit samples at 16 kHz.

Arguments: the file, then heads. Prints per-frame microseconds (the fastest of three passes) and the peak of the first
head as JSON. Loading is not counted.
"""

import json
import sys
import time

import numpy as np
import openwakeword

samples = np.fromfile(sys.argv[1], np.int16)
frames = len(samples) // 1280
best, peak = None, 0.0
for _ in range(3):
    model = openwakeword.Model(wakeword_model_paths=sys.argv[2:])
    first = next(iter(model.models))
    scores = []
    begun = time.perf_counter()
    for at in range(frames):
        scores.append(model.predict(samples[at * 1280 : (at + 1) * 1280])[first])
    elapsed = (time.perf_counter() - begun) / frames * 1e6
    best = elapsed if best is None else min(best, elapsed)
    # Its first windows hold noise of its own.
    peak = float(max(scores[30:]))
json.dump({"us": best, "peak": peak, "frames": frames}, sys.stdout)
