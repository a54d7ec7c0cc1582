"""Uses the routes for programs with OpenAI's own client. Arguments: base URL, token."""
import io
import json
import sys

from openai import APIStatusError, OpenAI

client = OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], max_retries=0, timeout=120)
found = {}
models = {model.id: model.model_extra["kind"] for model in client.models.list()}
found["kinds"] = sorted(set(models.values()))
chat = next(name for name, kind in models.items() if kind == "chat")
found["one"] = client.models.retrieve(chat).id == chat
ask = [{"role": "user", "content": "Say a word about the sea."}]
answer = client.chat.completions.create(model=chat, messages=ask, max_tokens=12, temperature=0, seed=1)
found["text"] = answer.choices[0].message.content
found["finish"] = answer.choices[0].finish_reason
found["tokens"] = answer.usage.completion_tokens
two = client.chat.completions.create(model=chat, messages=ask, max_tokens=12, temperature=0, seed=1, n=2)
found["two"] = [choice.message.content for choice in two.choices]
pieces, usage = [], None
for piece in client.chat.completions.create(
    model="default", messages=ask, max_tokens=12, temperature=0, seed=1, stream=True, stream_options={"include_usage": True}
):
    usage = piece.usage or usage
    pieces += [choice.delta.content for choice in piece.choices if choice.delta.content]
found["pieces"] = len(pieces)
found["streamed"] = "".join(pieces)
found["streamed_tokens"] = usage.completion_tokens
tool = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
weather = [{"role": "user", "content": "Use get_weather for Lyon."}]
called = client.chat.completions.create(model=chat, messages=weather, tools=[tool], max_tokens=60, temperature=0, seed=1)
message = called.choices[0].message
found["calls"] = [[call.function.name, json.loads(call.function.arguments)] for call in message.tool_calls or []]
if message.tool_calls:
    call = message.tool_calls[0]
    history = weather + [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "22 degrees"}]
    later = client.chat.completions.create(model=chat, messages=history, tools=[tool], max_tokens=40, temperature=0, seed=1)
    found["later"] = later.choices[0].finish_reason
for name, bad in {
    "model": dict(model="gpt-9", messages=ask),
    "temperature": dict(model=chat, messages=ask, temperature=7),
}.items():
    try:
        client.chat.completions.create(**bad)
    except APIStatusError as error:
        found["bad_" + name] = [error.status_code, error.body["param"]]
if "embeddings" in models.values():
    name = next(name for name, kind in models.items() if kind == "embeddings")
    vectors = client.embeddings.create(model=name, input=["A man is eating food.", "Somebody has a meal."])
    a, b = (vector.embedding for vector in vectors.data)
    found["cosine"] = sum(x * y for x, y in zip(a, b))
if "speech" in models.values():
    voice = next(name for name, kind in models.items() if kind == "speech")
    said = "The quick brown fox jumps over the lazy dog."
    sound = client.audio.speech.create(model="tts-1", voice="alloy", input=said, response_format="wav").read()
    found["pcm"] = len(client.audio.speech.create(model="tts-1", voice=voice, input="One.", response_format="pcm").read())
    file = io.BytesIO(sound)
    file.name = "said.wav"
    found["heard"] = client.audio.transcriptions.create(model="whisper-1", file=file, language="en").text
    file.seek(0)
    found["srt"] = client.audio.transcriptions.create(model="whisper-1", file=file, language="en", response_format="srt")
    broken = io.BytesIO(b"RIFF not a sound")
    broken.name = "broken.wav"
    try:
        client.audio.transcriptions.create(model="whisper-1", file=broken)
    except APIStatusError as error:
        found["broken"] = [error.status_code, error.body["param"]]
print(json.dumps(found))
