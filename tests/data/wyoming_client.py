"""Asks a Wyoming server for everything it offers, with the protocol's own client. Arguments: port, WAV with a wake word, WAV without."""
import asyncio
import json
import sys
import wave

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped, SynthesizeVoice
from wyoming.wake import Detect, Detection, NotDetected

port, with_word, without_word = int(sys.argv[1]), sys.argv[2], sys.argv[3]
found = {}


async def next_event(client):
    event = await asyncio.wait_for(client.read_event(), 120)
    assert event is not None, "the server closed the connection"
    return event


async def until(client, kind):
    events = []
    while True:
        event = await next_event(client)
        events.append(event)
        if kind.is_type(event.type):
            return events
        assert not Error.is_type(event.type), event


async def sound(client, rate, samples, width=2, channels=1):
    await client.write_event(AudioStart(rate=rate, width=width, channels=channels, timestamp=0).event())
    step = rate // 50 * width * channels
    for place in range(0, len(samples), step):
        ms = place * 1000 // (rate * width * channels)
        chunk = AudioChunk(rate=rate, width=width, channels=channels, audio=samples[place : place + step], timestamp=ms)
        await client.write_event(chunk.event())
    await client.write_event(AudioStop(timestamp=0).event())


def pcm(path):
    with wave.open(path) as file:
        return file.getframerate(), file.readframes(file.getnframes())


def joined(events):
    chunks = [AudioChunk.from_event(event) for event in events if AudioChunk.is_type(event.type)]
    return chunks[0].rate, b"".join(chunk.audio for chunk in chunks)


async def main():
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(Describe().event())
        info = Info.from_event((await until(client, Info))[-1])
        found["asr"] = [model.name for program in info.asr for model in program.models]
        found["tts"] = [voice.name for program in info.tts for voice in program.voices]
        found["wake"] = [[model.name, model.phrase] for program in info.wake for model in program.models]
        found["handle"] = [model.name for program in info.handle for model in program.models]
        await client.write_event(Ping("here").event())
        found["pong"] = Pong.from_event((await until(client, Pong))[-1]).text

        # One connection: speak, then write down what was spoken.
        said = "The quick brown fox jumps over the lazy dog."
        await client.write_event(Synthesize(said, voice=SynthesizeVoice(name=found["tts"][0])).event())
        rate, samples = joined(await until(client, AudioStop))
        found["spoken_s"] = len(samples) / 2 / rate
        await client.write_event(Transcribe(language="en").event())
        await sound(client, rate, samples)
        found["heard"] = Transcript.from_event((await until(client, Transcript))[-1]).text

        # Streamed text; the whole text again in the middle must not be spoken twice.
        await client.write_event(SynthesizeStart().event())
        for piece in ("The quick brown fox ", "jumps over the lazy dog."):
            await client.write_event(SynthesizeChunk(piece).event())
        await client.write_event(Synthesize(said).event())
        await client.write_event(SynthesizeStop().event())
        rate, samples = joined(await until(client, SynthesizeStopped))
        found["streamed_s"] = len(samples) / 2 / rate

        await client.write_event(Transcript("what is left of the budget?", language="en").event())
        event = await next_event(client)
        while event.type.startswith("transcript"):
            event = await next_event(client)
        found["answer"] = Handled.from_event(event).text
        await client.write_event(Transcript("delete everything").event())
        found["refusal"] = NotHandled.from_event(await next_event(client)).text

        await client.write_event(Synthesize("x", voice=SynthesizeVoice(name="nobody")).event())
        found["no_voice"] = Error.from_event(await next_event(client)).text

    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(Detect(names=["hey_jarvis"]).event())
        await sound(client, *pcm(with_word))
        event = await next_event(client)
        found["detected"] = [Detection.from_event(event).name, Detection.from_event(event).timestamp]
        await sound(client, *pcm(without_word))
        found["not_detected"] = NotDetected.is_type((await next_event(client)).type)
        await client.write_event(Detect(names=["hey_nobody"]).event())
        found["no_word"] = Error.from_event(await next_event(client)).text

    # What is malformed is told and closed; the server goes on.
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    found["malformed"] = json.loads(await reader.readline())["type"]
    await reader.read()
    writer.close()
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(Event("never-heard-of", data={"x": 1}))
        await client.write_event(Ping("again").event())
        found["again"] = Pong.from_event(await next_event(client)).text
    print(json.dumps(found))


asyncio.run(main())
