import { FIXTURE_PREFIX } from '../../../src/chat/backends/gguf-backend.ts'

const WIDTH = 64
const HIDDEN = 128
const LAYERS = 2
const HEADS = 4
const CONTEXT = 8_192
const ALIGNMENT = 32
const LETTERS = [...'▁{}[]":,.-_!?\'()abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789']
const BYTES = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`)
/** 337 tokens: three special ones, then single bytes, then letters. */
const TOKENS = ['<unk>', '<s>', '</s>', ...BYTES, ...LETTERS]
/** Token types as the format numbers them. */
const KINDS = [2, 3, 3, ...BYTES.map(() => 6), ...LETTERS.map(() => 1)]
const TEMPLATE =
  "{% for message in messages %}{{ '<' + message['role'] + '>' + message['content'] + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"

/** Numbers of value types (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
const TYPE = { u32: 4, i32: 5, f32: 6, text: 8, list: 9 } as const

/** A language model with random weights as a GGUF file. It runs as any other, and its text is meaningless. Always the same bytes. */
export function tinyGguf(name = `${FIXTURE_PREFIX}-tiny`): Buffer {
  const tensors = tensorsOf(randomNumbers(7))
  const facts = factsOf(name)
  let offset = 0
  const rows = tensors.map(({ label, shape, data }) => {
    const row = [text(label), u32(shape.length), ...shape.map(u64), u32(0), u64(offset)]
    offset += data.byteLength
    return Buffer.concat(row)
  })
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(facts.length), ...facts, ...rows])
  const padding = Buffer.alloc((ALIGNMENT - (head.length % ALIGNMENT)) % ALIGNMENT)
  return Buffer.concat([head, padding, ...tensors.map(({ data }) => Buffer.from(data.buffer))])
}

function factsOf(name: string): readonly Buffer[] {
  const words = { 'general.architecture': 'llama', 'general.name': name, 'tokenizer.ggml.model': 'llama' }
  const counts = {
    'llama.block_count': LAYERS,
    'llama.context_length': CONTEXT,
    'llama.embedding_length': WIDTH,
    'llama.feed_forward_length': HIDDEN,
    'llama.attention.head_count': HEADS,
    'llama.attention.head_count_kv': HEADS,
    'llama.rope.dimension_count': WIDTH / HEADS,
    'llama.vocab_size': TOKENS.length,
    'tokenizer.ggml.unknown_token_id': 0,
    'tokenizer.ggml.bos_token_id': 1,
    'tokenizer.ggml.eos_token_id': 2,
  }
  return [
    ...Object.entries({ ...words, 'tokenizer.chat_template': TEMPLATE }).map(([key, value]) =>
      fact(key, 'text', text(value)),
    ),
    ...Object.entries(counts).map(([key, value]) => fact(key, 'u32', u32(value))),
    fact('llama.attention.layer_norm_rms_epsilon', 'f32', f32(1e-5)),
    fact('tokenizer.ggml.tokens', 'list', list('text', TOKENS.map(text))),
    fact(
      'tokenizer.ggml.scores',
      'list',
      list(
        'f32',
        TOKENS.map((_, i) => f32(-i)),
      ),
    ),
    fact('tokenizer.ggml.token_type', 'list', list('i32', KINDS.map(u32))),
  ]
}

interface Tensor {
  readonly label: string
  readonly shape: readonly number[]
  readonly data: Float32Array
}

function tensorsOf(random: () => number): readonly Tensor[] {
  const weights = (label: string, ...shape: readonly number[]): Tensor => {
    const data = new Float32Array(shape.reduce((product, one) => product * one, 1))
    return { label: `${label}.weight`, shape, data: data.map(random) }
  }
  const ones = (label: string): Tensor => ({
    label: `${label}.weight`,
    shape: [WIDTH],
    data: new Float32Array(WIDTH).fill(1),
  })
  const output = weights('output', WIDTH, TOKENS.length)
  // Tokens without weight are never the likeliest. So the model says letters only and does not end before the limit.
  output.data.fill(0, 0, WIDTH * (TOKENS.length - LETTERS.length))
  const layers = Array.from({ length: LAYERS }, (_, i) => [
    ones(`blk.${i}.attn_norm`),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((part) => weights(`blk.${i}.${part}`, WIDTH, WIDTH)),
    ones(`blk.${i}.ffn_norm`),
    weights(`blk.${i}.ffn_gate`, WIDTH, HIDDEN),
    weights(`blk.${i}.ffn_up`, WIDTH, HIDDEN),
    weights(`blk.${i}.ffn_down`, HIDDEN, WIDTH),
  ])
  return [weights('token_embd', WIDTH, TOKENS.length), ...layers.flat(), ones('output_norm'), output]
}

/** Numbers between -0.5 and 0.5, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 - 0.5
  }
}

function fact(key: string, type: keyof typeof TYPE, value: Buffer): Buffer {
  return Buffer.concat([text(key), u32(TYPE[type]), value])
}

function list(type: keyof typeof TYPE, values: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(TYPE[type]), u64(values.length), ...values])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8')
  return Buffer.concat([u64(bytes.length), bytes])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}
