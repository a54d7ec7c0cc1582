"""Holds what this project writes for other tools against those tools themselves.

    inspect_check.py log LOGS FACTS      the logs as inspect_ai reads them, against what the store says
    inspect_check.py view LOGS FACTS     the same through the server of `inspect view`, as its page asks
    inspect_check.py make FOLDER         an evaluation by inspect_ai with its mock model, as .eval and .json
    inspect_check.py rescore LOG OUT     the log as inspect_ai writes it anew, with one score changed
    inspect_check.py junit FILE XSD FACTS
    inspect_check.py time LOG            seconds that inspect_ai takes to read a log, as JSON

FACTS is JSON from the store: {"configuration", "passes", "cases", "manifest"}. Prints `ok` and a line of counts.
"""

import glob
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request


def short(value):
    text = repr(value)
    return text if len(text) < 300 else f"{text[:300]}…"


def equal(what, found, wanted):
    if found == wanted:
        return
    # The place in a large structure, not the structure.
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        for key in found:
            equal(f"{what}, {key}", found[key], wanted[key])
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for place, (one, other) in enumerate(zip(found, wanted)):
            equal(f"{what}, {place}", one, other)
    raise SystemExit(f"{what}: inspect_ai has {short(found)}, the store {short(wanted)}")


def near(what, found, wanted):
    if abs(found - wanted) > 1e-9 * max(1.0, abs(wanted)):
        raise SystemExit(f"{what}: inspect_ai has {found!r}, the store {wanted!r}")


def one_log(folder):
    logs = sorted(glob.glob(os.path.join(folder, "*.eval")))
    equal("number of logs", len(logs), 1)
    return logs[0]


def by_key(facts):
    return {(entry["pass"]["case"], entry["pass"]["pass"]): entry for entry in facts["passes"]}


def check_messages(where, messages, entry):
    """The messages of the request, each with its text, and then the answer."""
    asked = entry["request"]["request"]["messages"]
    equal(f"{where} roles", [message.role for message in messages[: len(asked)]], [m["role"] for m in asked])
    for number, (message, want) in enumerate(zip(messages, asked)):
        equal(f"{where} message {number}", message.text, want["content"])
    record = entry["pass"]
    answers = messages[len(asked) :]
    is_silent = not record["text"] and not record.get("thinking") and not record.get("calls")
    if record["end"] == "fault" and is_silent:
        equal(f"{where} answers", len(answers), 0)
        return
    equal(f"{where} answers", len(answers), 1)
    equal(f"{where} answer's role", answers[0].role, "assistant")
    equal(f"{where} answer", answers[0].text, record["text"])


def check_calls(where, message, entry):
    structured = entry["pass"].get("calls", [])
    parsed = (entry["outcome"] or {}).get("calls", [])
    calls = message.tool_calls or []
    if structured:
        equal(f"{where} called", [call.function for call in calls], [call["name"] for call in structured])
        for call, want in zip(calls, structured):
            is_object = isinstance(want["arguments"], dict)
            equal(f"{where} arguments", call.arguments, want["arguments"] if is_object else {})
            equal(f"{where} parse error", call.parse_error is not None, not is_object)
            if want.get("id"):
                equal(f"{where} id", call.id, want["id"])
    else:
        equal(f"{where} called", [call.function for call in calls], [call["name"] for call in parsed])
        equal(f"{where} arguments", [call.arguments for call in calls], [call["arguments"] for call in parsed])
    recovered = [call["recovered"] for call in parsed]
    if any(recovered):
        noted = message.metadata["calls"]
        equal(f"{where} recovered", [call["recovered"] for call in noted], recovered)
    equal(f"{where} types", {call.type for call in calls} - {"function"}, set())
    equal(f"{where} distinct ids", len({call.id for call in calls}), len(calls))
    return len(calls)


def check_usage(where, usage, want):
    if want.get("prompt_tokens") is None or want.get("completion_tokens") is None:
        equal(f"{where} usage", usage, None)
        return
    cached = want.get("cached_tokens")
    equal(f"{where} input tokens", usage.input_tokens, max(0, want["prompt_tokens"] - (cached or 0)))
    equal(f"{where} cached tokens", usage.input_tokens_cache_read, cached)
    equal(f"{where} output tokens", usage.output_tokens, want["completion_tokens"])
    equal(f"{where} total tokens", usage.total_tokens, want["prompt_tokens"] + want["completion_tokens"])


def check_score(where, sample, entry):
    outcome = entry["outcome"]
    if outcome is None or outcome["success"] is None:
        equal(f"{where} scores", sample.scores or {}, {})
        equal(f"{where} has an error", sample.error is not None, outcome is not None)
        if entry["pass"].get("fault"):
            equal(f"{where} error", sample.error.message, entry["pass"]["fault"]["message"])
        return
    equal(f"{where} error", sample.error, None)
    score = sample.scores["tenpass"]
    equal(f"{where} score", score.value, "C" if outcome["success"] else "I")
    equal(f"{where} explanation", score.explanation or "", "\n".join(outcome["reasons"]))
    equal(f"{where} class", score.metadata["class"], outcome["class"])
    equal(f"{where} classes", score.metadata["classes"], outcome["classes"])
    equal(f"{where} limit", sample.limit.type if sample.limit else None,
          "time" if entry["pass"]["end"] == "timeout" else None)


def check_events(where, sample, entry):
    """The requests behind the answers, with their tools, settings and full input."""
    from inspect_ai.event import ModelEvent, ScoreEvent

    models = [event for event in sample.events if isinstance(event, ModelEvent)]
    record = entry["pass"]
    request = entry["request"]["request"]
    equal(f"{where} requests", len(models), 1)
    event = models[0]
    equal(f"{where} input", [message.text for message in event.input], [m["content"] for m in request["messages"]])
    equal(f"{where} tools", [tool.name for tool in event.tools], [tool["name"] for tool in request.get("tools", [])])
    equal(f"{where} seed", event.config.seed, record["seed"])
    equal(f"{where} temperature", event.config.temperature, request["options"]["temperature"])
    equal(f"{where} tokens allowed", event.config.max_tokens, request["options"]["max_tokens"])
    equal(f"{where} output", event.output.completion, record["text"])
    scored = [event for event in sample.events if isinstance(event, ScoreEvent)]
    equal(f"{where} score events", len(scored), len(sample.scores or {}))


def check_play(where, sample, entry):
    """A scenario: every turn of the person, every answer and every result of a tool."""
    turns = entry["pass"]["played"]["turns"]
    text = lambda role: [message.text for message in sample.messages if message.role == role]
    equal(f"{where} user", text("user"), [turn["user"] for turn in turns])
    said = [message for message in sample.messages if message.role == "assistant" and message.source == "generate"]
    answers = [answer for turn in turns for answer in turn["answers"]]
    equal(f"{where} answers", [message.text for message in said], [answer["text"] for answer in answers])
    results = [call.get("result", "") for turn in turns for call in turn.get("calls", [])]
    equal(f"{where} results", text("tool"), results)
    named = {call.id for message in said for call in message.tool_calls or []}
    for message in sample.messages:
        if message.role == "tool" and message.tool_call_id not in named:
            raise SystemExit(f"{where}: a result of {message.tool_call_id}, which was not called")
    equal(f"{where} stored play", sample.store["tenpass"]["pass"]["played"], entry["pass"]["played"])
    return len(results)


def check_sample(sample, entry, case):
    where = f"{sample.id} epoch {sample.epoch}"
    record = entry["pass"]
    calls = 0
    if record.get("played"):
        calls = check_play(where, sample, entry)
    else:
        check_messages(where, sample.messages, entry)
        calls = check_calls(where, sample.output.message, entry) if sample.output.choices else 0
        check_usage(where, sample.output.usage, record.get("usage", {}))
        check_events(where, sample, entry)
        equal(f"{where} completion", sample.output.completion, record["text"])
    check_score(where, sample, entry)
    near(f"{where} time", sample.total_time * 1e3, record["timings"]["total_ms"])
    equal(f"{where} seed", sample.metadata["seed"], record["seed"])
    for name in ("family", "language", "kind", "source", "provenance"):
        equal(f"{where} {name}", sample.metadata[name], case[name])
    started = sample.started_at.replace("+00:00", "Z")
    equal(f"{where} started", started[:19], record["started"][:19])
    return calls


def check_results(log, facts):
    """Accuracy and standard error over the cases' means, computed here from the store's grades."""
    graded = {}
    for entry in facts["passes"]:
        answers = graded.setdefault(entry["pass"]["case"], [])
        if entry["outcome"] and entry["outcome"]["success"] is not None:
            answers.append(1.0 if entry["outcome"]["success"] else 0.0)
    means = {case: statistics.mean(answers) for case, answers in graded.items() if answers}
    score = log.results.scores[0]
    equal("scored", (score.scorer, score.reducer, score.scored_samples), ("tenpass", "mean", len(means)))
    near("accuracy", score.metrics["accuracy"].value, statistics.mean(means.values()) if means else 0.0)
    error = statistics.stdev(means.values()) / len(means) ** 0.5 if len(means) > 1 else 0.0
    near("stderr", score.metrics["stderr"].value, error)
    reduced = {sample.sample_id: sample.value for sample in log.reductions[0].samples}
    equal("reduced samples", sorted(reduced), sorted(means))
    for case, mean in means.items():
        near(f"mean of {case}", reduced[case], mean)
    invalid = sum(1 for entry in facts["passes"] if entry["outcome"] and entry["outcome"]["success"] is None)
    equal("invalid", score.metadata["invalid"], invalid)


def check_header(log, facts):
    manifest = facts["manifest"]
    equal("version", log.version, 2)
    equal("status", log.status, "success")
    equal("task", log.eval.task, manifest["bench"])
    equal("epochs", log.eval.config.epochs, manifest["passes"])
    equal("sample ids", log.eval.dataset.sample_ids, [case["id"] for case in facts["cases"]])
    equal("packages", log.eval.packages["tenpass"], manifest["sessions"][0]["program"])
    git = manifest["sessions"][0].get("git")
    equal("revision", log.eval.revision.commit if log.eval.revision else None, git["revision"] if git else None)
    options = next(c for c in manifest["configurations"] if c["id"] == facts["configuration"])["options"]
    equal("temperature", log.plan.config.temperature, options["temperature"])
    equal("own manifest", log.eval.metadata["tenpass"]["manifest"]["seed"], manifest["seed"])


def check_log(folder, facts):
    from inspect_ai.log import (
        read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries, read_eval_log_samples,
    )

    path = one_log(folder)
    header = read_eval_log(path, header_only=True)
    check_header(header, facts)
    log = read_eval_log(path, resolve_attachments=True)
    check_header(log, facts)
    check_results(log, facts)
    entries = by_key(facts)
    cases = {case["id"]: case for case in facts["cases"]}
    equal("samples", sorted((sample.id, sample.epoch) for sample in log.samples), sorted(entries))
    calls = 0
    for sample in log.samples:
        calls += check_sample(sample, entries[(sample.id, sample.epoch)], cases[sample.id])
    # One by one, as scripts read large logs.
    streamed = {(sample.id, sample.epoch) for sample in read_eval_log_samples(path, all_samples_required=False)}
    equal("streamed samples", streamed, set(entries))
    summaries = read_eval_log_sample_summaries(path)
    equal("summaries", len(summaries), len(entries))
    whole = {(sample.id, sample.epoch): sample.summary() for sample in log.samples}
    for summary in summaries:
        want = whole[(summary.id, summary.epoch)]
        equal(f"summary of {summary.id} {summary.epoch}", summary.model_dump(), want.model_dump())
    first = log.samples[0]
    alone = read_eval_log_sample(path, first.id, first.epoch)
    equal("one sample", alone.model_dump(), read_eval_log_sample(path, uuid=first.uuid).model_dump())
    check_recorded_again(path)
    print(f"ok: {len(log.samples)} samples, {calls} calls, {len(summaries)} summaries")


def check_recorded_again(path):
    """Inspect can write the log anew, as .eval and .json, and nothing of it is lost."""
    import tempfile
    from inspect_ai.log import read_eval_log, write_eval_log

    def whole(path):
        # Where long texts are kept is the writer's business, and which of several equal messages it keeps.
        log = read_eval_log(path, resolve_attachments=True)
        samples = [sample.model_dump(exclude={"attachments", "events_data"}) for sample in log.samples]
        for sample in samples:
            for event in sample["events"]:
                for message in event.get("input") or []:
                    message.pop("id")
        return {(sample["id"], sample["epoch"]): sample for sample in samples}

    with tempfile.TemporaryDirectory() as folder:
        for name in ("again.eval", "again.json"):
            copy = os.path.join(folder, name)
            write_eval_log(read_eval_log(path), copy)
            equal(f"samples of {name}", whole(copy), whole(path))


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
        return answer.read()


def free_port():
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(server, port):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SystemExit(f"inspect view ended with {server.returncode}")
        try:
            return get(port, "/api/log-dir")
        except OSError:
            time.sleep(0.1)
    raise SystemExit("inspect view did not answer within 60 s")


def check_view(folder, facts):
    port = free_port()
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--log-dir", folder, "--host", "127.0.0.1",
               "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(server, port)
        page = get(port, "/")
        if b"<script" not in page:
            raise SystemExit("the viewer's page has no script")
        files = json.loads(get(port, "/api/logs"))["files"]
        equal("logs in the list", len(files), 1)
        name = files[0]["name"]
        equal("task in the list", files[0]["task"], facts["manifest"]["bench"])
        quoted = urllib.parse.quote(name, safe="")
        header = json.loads(get(port, f"/api/log-headers?file={quoted}"))[0]
        equal("header's model", header["eval"]["model"].split("/")[0],
              next(c for c in facts["manifest"]["configurations"] if c["id"] == facts["configuration"])["model"]["backend"])
        metrics = header["results"]["scores"][0]["metrics"]
        whole = json.loads(get(port, f"/api/logs/{quoted}"))
        equal("samples of the log", len(whole["samples"]), len(facts["passes"]))
        size = json.loads(get(port, f"/api/log-size/{quoted}"))
        equal("size", size, os.path.getsize(one_log(folder)))
        # The page reads the archive itself, range by range: its end, then entry by entry.
        archive = get(port, f"/api/log-bytes/{quoted}?start=0&end={size - 1}")
        check_archive(archive, facts)
        print(f"ok: accuracy {metrics['accuracy']['value']:.3f}, {len(whole['samples'])} samples shown")
    finally:
        server.terminate()
        server.wait(timeout=30)


def check_archive(archive, facts):
    """The entries that the page opens, unpacked with the standard library."""
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(archive)) as entries:
        names = set(entries.namelist())
        for entry in facts["passes"]:
            name = f"samples/{entry['pass']['case']}_epoch_{entry['pass']['pass']}.json"
            if name not in names:
                raise SystemExit(f"the archive has no {name}")
        summaries = json.loads(entries.read("summaries.json"))
        equal("summaries of the page", len(summaries), len(facts["passes"]))
        equal("header", json.loads(entries.read("header.json"))["version"], 2)


def make(folder):
    """Tool calls, several epochs, two scorers, a wrong answer and a failing sample."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, includes, mean, scorer
    from inspect_ai.solver import generate, system_message, use_tools
    from inspect_ai.tool import tool

    @tool
    def add():
        async def execute(x: int, y: int):
            """Adds.

            Args:
                x: one
                y: other
            """
            return x + y

        return execute

    @scorer(metrics=[mean()])
    def length():
        async def score(state, target):
            return Score(value=min(1.0, len(state.output.completion) / 100), explanation="by length")

        return score

    def counted(output, tokens):
        # Without counts the mock model would fetch a tokenizer.
        output.usage = ModelUsage(input_tokens=tokens, output_tokens=3, total_tokens=tokens + 3)
        return output

    def answers(input, tools, tool_choice, config):
        last = input[-1]
        if last.role == "tool":
            return counted(ModelOutput.from_content("mockllm/model", f"The sum is {last.text}. " + "x" * 150), 20)
        if "fail" in last.text:
            raise ConnectionError("the server went away")
        if "sum" in last.text:
            return counted(ModelOutput.for_tool_call("mockllm/model", "add", {"x": 1, "y": 2}), 10)
        return counted(ModelOutput.from_content("mockllm/model", "I do not know"), 5)

    samples = [
        Sample(id="the/sum", input="What is the sum of 1 and 2?", target="3", metadata={"level": 1}),
        Sample(input="Say hello. " + "y" * 150, target="hello"),
        Sample(id="fails", input="Please fail.", target="x"),
    ]
    task = Task(dataset=samples, solver=[system_message("Be brief."), use_tools(add()), generate()],
                scorer=[includes(), length()], epochs=2, name="mocked")
    for form in ("eval", "json"):
        model = get_model("mockllm/model", custom_outputs=answers)
        logs = eval(task, model=model, log_dir=folder, log_format=form, temperature=0.5, seed=7, max_tokens=64,
                    fail_on_error=False, display="none")
        equal("status", logs[0].status, "success")
        print(logs[0].location.removeprefix("file://"))


def rescore(log, out):
    from inspect_ai.log import ProvenanceData, edit_score, read_eval_log, write_eval_log
    from inspect_ai.scorer import ScoreEdit

    read = read_eval_log(log)
    scored = next(sample for sample in read.samples if sample.scores and sample.scores["tenpass"].value == "I")
    edit = ScoreEdit(value="C", explanation="a person looked", provenance=ProvenanceData(author="someone"))
    edit_score(read, scored.id, "tenpass", edit, epoch=scored.epoch)
    write_eval_log(read, out)
    print(json.dumps({"case": scored.id, "pass": scored.epoch}))


def check_junit(path, schema, facts):
    import xmlschema
    from junitparser import Failure, JUnitXml, Properties

    xmlschema.XMLSchema(schema).validate(path)
    suites = list(JUnitXml.fromfile(path))
    equal("suites", len(suites), len(facts["manifest"]["configurations"]))
    counts = {}
    for entry in facts["passes"]:
        right, answers = counts.get(entry["pass"]["case"], (0, 0))
        if entry["outcome"] and entry["outcome"]["success"] is not None:
            counts[entry["pass"]["case"]] = (right + entry["outcome"]["success"], answers + 1)
    kinds = {case["id"]: case["kind"] for case in facts["cases"]}
    cases = list(suites[0])
    equal("test cases", sorted(case.name for case in cases), sorted(kinds))
    failed = 0
    for case in cases:
        properties = {item.name: item.value for group in case.iterchildren(Properties) for item in group}
        right, answers = counts[case.name]
        equal(f"{case.name} counts", (properties["successes"], properties["answers"]), (str(right), str(answers)))
        low, high = float(properties["wilson_low"]), float(properties["wilson_high"])
        if not low <= right / answers <= high:
            raise SystemExit(f"{case.name}: {right} of {answers} is not within {low} and {high}")
        gate = -(-facts["manifest"]["passes"] * 4 // 5)
        # So many wrong answers that the gate cannot be held any more; INVALID passes decide nothing.
        wanted = kinds[case.name] == "guard" and answers - right > facts["manifest"]["passes"] - gate
        equal(f"{case.name} failed", any(isinstance(result, Failure) for result in case.result), wanted)
        failed += wanted
    equal("failures", suites[0].failures, failed)
    print(f"ok: {len(cases)} test cases, {failed} failures")


def read_time(path):
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    begun = time.perf_counter()
    header = read_eval_log(path, header_only=True)
    at_header = time.perf_counter()
    summaries = read_eval_log_sample_summaries(path)
    at_summaries = time.perf_counter()
    log = read_eval_log(path)
    end = time.perf_counter()
    equal("samples", len(log.samples), len(summaries))
    print(json.dumps({"status": header.status, "samples": len(summaries), "header_s": at_header - begun,
                      "summaries_s": at_summaries - at_header, "whole_s": end - at_summaries}))


def main():
    command, *rest = sys.argv[1:]
    load = lambda path: json.load(open(path, encoding="utf-8"))
    if command == "log":
        check_log(rest[0], load(rest[1]))
    elif command == "view":
        check_view(rest[0], load(rest[1]))
    elif command == "make":
        make(rest[0])
    elif command == "rescore":
        rescore(*rest)
    elif command == "junit":
        check_junit(rest[0], rest[1], load(rest[2]))
    elif command == "time":
        read_time(rest[0])
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
