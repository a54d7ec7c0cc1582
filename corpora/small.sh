#!/bin/sh
# Rebuilds corpora/small from the voices, prompts and texts: sh corpora/small.sh FOLDER
# Needs espeak-ng, flite and the assets kokoro-82m, kokoro-voices, onnxruntime, piper-joe and asterisk-prompts-en/-fr
# (`tenpass models pull NAME`). The same versions give the same hash.
set -eu
to=${1:?"usage: sh corpora/small.sh FOLDER"}
tenpass=${TENPASS:-tenpass}
here=$(dirname "$0")

voices() {
    for voice in "$@"; do printf ' --voice %s' "$voice"; done
}
# Whisper base hears little of the French of espeak-ng: it says the wake word and near misses only.
all=$(voices kokoro:af_heart kokoro:am_michael kokoro:bf_emma piper:piper-joe flite:slt kokoro:ff_siwis)
near=$(voices kokoro:af_bella kokoro:bm_george flite:rms espeak:en-us kokoro:ff_siwis espeak:fr-fr+m3)

# shellcheck disable=SC2086 # the voices are words of their own
{
    # Closed commands behind the wake word, 30 in each language, each by one voice; a third of them in noise and rooms.
    "$tenpass" corpus synth "$to" --name small --licence "CC0-1.0 (synthetic voices), CC-BY-SA-3.0 (human prompts); see README.md" \
        --description "Commands, other sentences, the wake word Kora, noise and telephone prompts for the tests" \
        --commands "$here/commands/commands.toml" --usual --most 20 --wake Kora --wake-first $all --voices-per-phrase 1 --seed 11
    "$tenpass" corpus synth "$to" --commands "$here/commands/commands.toml" --usual --most 10 --wake Kora --wake-first \
        $all --voices-per-phrase 1 --no-dry --rounds 1 --lowest-snr 10 --seed 12
    # Sentences that are no command.
    "$tenpass" corpus synth "$to" --others "$here/commands/other.toml" --most 10 $all --voices-per-phrase 1 --seed 13
    # The wake word alone, and near misses.
    "$tenpass" corpus synth "$to" --wake Kora --phrases "$here/kora.toml" $near --voices-per-phrase 1 --seed 14
    "$tenpass" corpus synth "$to" --wake Kora $near --no-dry --rounds 2 --lowest-snr 8 --seed 15
    # Human speech.
    "$tenpass" corpus import asterisk "$to" --language en --most 6 --words 5
    "$tenpass" corpus import asterisk "$to" --language fr --most 6 --words 5
    # A quiet room, pink noise, a murmur of voices, brown noise.
    "$tenpass" corpus synth "$to" --noise 4 --noise-seconds 3 --seed 16
}
