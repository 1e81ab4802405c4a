#!/usr/bin/env bash
# punt tokenize and detokenize on the shipped tokenizers. $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"

golden=$PUNT_SOURCE_DIR/tests/golden

# prints "expected output" ARGS...: exit 0 and exactly this on stdout
prints() {
  local expected=$1 out
  shift
  out=$("$PUNT" "$@" </dev/null 2>err) || fail "exit code $?: $* -> $(cat err)"
  [ "$out" = "$expected" ] || fail "$* printed '$out', expected '$expected'"
}

for command in tokenize detokenize; do
  [[ $("$PUNT" $command --help) == *Examples* ]] || fail "help of $command shows no example"
  refuses "--model is required" $command x
  refuses "nowhere: no such file or folder" $command --model nowhere 1
  refuses "not a GGUF file" $command --model "$PUNT_SOURCE_DIR/README.md" 1
  refuses "there is no tokenizer" $command --model "$golden/llada_moe" 1
done

prints "71 72 314" tokenize --model "$golden/llada" "hi<|mdm_mask|>"
prints "20 15 32" tokenize --model "$golden/esm2" "MK<mask>"
prints "20 15 11" tokenize --model "$golden/esm2" mkT
refuses "'*' at position 3 is not one of the letters that the model knows" tokenize --model "$golden/esm2" "MK*"
prints "0 20 15 2" tokenize --model "$golden/esm2" MK --special
prints "101 303 304 110 102" tokenize --model "$golden/bert" "Hello world!" --special
prints "0 1 1 0" tokenize --model toy:markov,length=8,vocab=4 abba
prints '{"tokens":[303,304],"pieces":["hello","world"],"count":2}' tokenize --model "$golden/bert" "Hello world" --json
prints "" tokenize --model "$golden/llada" ""
refuses "byte 0xff at offset 1" tokenize --model "$golden/llada" $'a\xff'
refuses "exclude each other" tokenize --model "$golden/llada" a --chat --special
refuses "no chat template" tokenize --model "$golden/dream" a --chat

prints "MK<mask>" detokenize --model "$golden/esm2" 20 15 32
prints "MK" detokenize --model "$golden/esm2" "[20,15]"
prints '{"text":"MK","tokens":[20,15]}' detokenize --model "$golden/esm2" 20 15 --json
prints "abba" detokenize --model toy:markov,length=8,vocab=4 0 1 1 0
refuses "token 999 lies outside the vocabulary of 320" detokenize --model "$golden/llada" 5 999
refuses "got 'five'" detokenize --model "$golden/llada" five
refuses "token must be between 0 and" detokenize --model "$golden/llada" 99999999999

# ---- GGUF files that are cut or lie: the header alone is wanted, but all of it is checked
accepts convert "$golden/llada" whole.gguf
prints "71 72 314" tokenize --model whole.gguf "hi<|mdm_mask|>"
bytes=$(stat -c %s whole.gguf)
for size in 0 3 4 20 100 3000 $((bytes / 2)) $((bytes - 1)); do
  head -c "$size" whole.gguf >cut.gguf
  refuses "cut.gguf: " tokenize --model cut.gguf hi
  refuses "cut.gguf: " detokenize --model cut.gguf 1
done
refuses "cut.gguf: tensor 'output.weight' needs" tokenize --model cut.gguf hi

# hostile TENSORS KEYS BYTES: a version 3 header with these counts (one byte each) and what follows it
hostile() { printf 'GGUF\3\0\0\0\'"$1"'\0\0\0\0\0\0\0\'"$2"'\0\0\0\0\0\0\0'"$3" >hostile.gguf; }
size_2='\2\0\0\0\0\0\0\0'
hostile 0 1 "$size_2"'\0k\7\0\0\0\1'
refuses "hostile.gguf: key 0 has no name" tokenize --model hostile.gguf hi
hostile 0 1 '\377\377\377\377\377\377\377\177k'
refuses "hostile.gguf: not a GGUF file that can be read: string length" tokenize --model hostile.gguf hi
hostile 0 1 "$size_2"'kk\11\0\0\0\4\0\0\0\0\0\0\0\0\0\0\40'
refuses "hostile.gguf: not a GGUF file that can be read: " tokenize --model hostile.gguf hi
# a tensor 'tt' of four floats, and no data
hostile 1 0 "$size_2"'tt\1\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
refuses "hostile.gguf: tensor 'tt' needs 16 bytes" tokenize --model hostile.gguf hi

# ---- the standard input, kept to its last byte
text=$'  a\tb \n\n'
printf '%s' "$text" | "$PUNT" tokenize --model "$golden/llada" >ids || fail "text from the standard input"
"$PUNT" detokenize --model "$golden/llada" - <ids >back || fail "ids from the standard input"
printf '%s\n' "$text" | cmp -s - back || fail "the text did not come back: $(cat ids)"
chat=$("$PUNT" tokenize --model "$golden/llada" hi --chat | "$PUNT" detokenize --model "$golden/llada")
[[ $chat == "<|startoftext|><|start_header_id|>user"*"assistant<|end_header_id|>"* ]] || fail "chat: $chat"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
