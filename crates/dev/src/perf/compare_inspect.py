"""inspect_ai's own reading of a log: everything, and the summaries only.

usage: compare_inspect.py FILE.eval
"""

import json
import resource
import sys
import time

import inspect_ai
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

path = sys.argv[1]
started = time.perf_counter()
summaries = read_eval_log_sample_summaries(path)
summaries_s = time.perf_counter() - started
started = time.perf_counter()
log = read_eval_log(path)
whole_s = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(
    json.dumps(
        {
            "version": inspect_ai.__version__,
            "samples": len(log.samples or []),
            "summaries": len(summaries),
            "summaries_s": summaries_s,
            "whole_s": whole_s,
            "peak_bytes": peak,
        }
    )
)
