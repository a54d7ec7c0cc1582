"""Two runs compared as a script would: k of n by case and the median time, read from the run's own lines.

usage: compare_plain.py BEFORE AFTER (folders of runs). No test, no interval: it reads and counts.
"""

import json
import resource
import statistics
import sys
import time


def read(folder):
    passed, total, times = {}, {}, []
    with open(f"{folder}/outcomes.jsonl", encoding="utf-8") as lines:
        for line in lines:
            outcome = json.loads(line)
            if outcome["success"] is not None:
                case = outcome["case"]
                total[case] = total.get(case, 0) + 1
                passed[case] = passed.get(case, 0) + outcome["success"]
    with open(f"{folder}/passes.jsonl", encoding="utf-8") as lines:
        for line in lines:
            times.append(json.loads(line)["timings"]["total_ms"])
    return {case: passed[case] / total[case] for case in total}, statistics.median(times)


started = time.perf_counter()
(before, before_ms), (after, after_ms) = (read(folder) for folder in sys.argv[1:3])
delta = statistics.mean(after[case] - before[case] for case in before)
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "peak_bytes": peak, "delta": delta, "median_ms": after_ms - before_ms}))
