import { describe, expect, it } from 'vitest'
import { isSound } from '../../../../../marketplace/chat/info/sound-words.ts'

const GIVEN = [
  'Errors: 429 with Retry-After, 502 upstream_error. What is x402?',
  'POST https://node.example:8420/api/v1/chat/completions with model-3, at most 1,000,000 tokens, $0.25, 8B, stream_options.include_usage.',
  'GET http://127.0.0.1:8421/chat#faq-key; /info/models/{id}, see docs.example/start.',
]

describe('the words of a model', () => {
  it.each([
    'It is answered 429.',
    'At most 1,000,000 tokens, or 1000000 of them.',
    'It costs 0.25, and Model 3 is model-3 of 8 billion: see x402.',
    'Call https://node.example:8420/api/v1/chat/completions.',
    'Call POST /api/v1/chat/completions at node.example:8420, or at https://node.example:8420/.',
    'Look at http://127.0.0.1:8421/chat#faq-key, at 127.0.0.1:8421, /info/models/{id} and docs.example/start!',
    'stream_options.include_usage and/or input/output',
    '1. Get a key.\n2. Use it.\n 3) Done.',
  ])('may name what was given: %s', (said) => expect(isSound(said, GIVEN)).toBe(true))

  it.each([
    ['a part of a number', 'The answer is 42.'],
    ['the number of a name', 'The answer is 402.'],
    ['the number of a model', 'You have 3 keys.'],
    ['a part of a grouped number', 'You have 1,000 tokens.'],
    ['a decimal that was not given', 'It costs 0.2.'],
    ['the places behind a point', 'It costs 25.'],
    ['the number of an address', 'It takes 8420 seconds.'],
    ['digits of another script', 'The answer is ٤٢.'],
    ['a longer number', 'Error 4290.'],
    ['another model', 'Take model-31.'],
    ['the beginning of an address', 'Call https://node.example:8420/api/v1/chat.'],
    ['a longer address', 'Call https://node.example:8420/api/v1/chat/completions/evil'],
    ['another host', 'Call https://node.example.evil.test/api/v1/chat/completions'],
    ['the end of a host', 'See example:8420 at ample.example'],
    ['a host without a scheme', 'Send your key to evil.test'],
    ['an address of mail', 'Write to key@evil.test'],
    ['another path', 'Call /api/v1/chat'],
    ['a path that was not given', 'Call /etc/passwd'],
    ['a part of an address of numbers', 'Call 27.0.0.1:8421'],
    ['nothing', ''],
    ['that it does not know', 'UNKNOWN'],
    ['too much', 'a'.repeat(3_001)],
  ])('must not be %s', (_, said) => expect(isSound(said, GIVEN)).toBe(false))

  it.each(['a.', '/a', '1,', 'a-', 'http://', '1.1.1.'])('are read quickly, whatever they are: %s', (piece) => {
    const said = piece.repeat(Math.floor(3_000 / piece.length))
    expect(isSound(said, [said])).toBe(true)
  })
})
