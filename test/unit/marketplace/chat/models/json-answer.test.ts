import { describe, expect, it } from 'vitest'
import { readJsonAnswer } from '../../../../../marketplace/chat/models/json-answer.ts'

describe('an answer of a model', () => {
  it.each([
    '{"a":1}',
    ' {"a":1}\n',
    '```json\n{"a":1}\n```',
    '\n```\n{"a":1}```\n\n',
    '``` json {"a":1} ```'.replace('` json', '`json'),
  ])('is read as the object that it is: %j', (text) => {
    expect(readJsonAnswer(text)).toEqual({ a: 1 })
  })

  it.each(['', '[1]', 'null', '1', 'no', '```', '``````', '```json', '```\n{"a":1}', '{"a":1} {"a":2}'])(
    'is null where it is none: %j',
    (text) => {
      expect(readJsonAnswer(text)).toBeNull()
    },
  )

  it('of a fence and a million blanks is no object, and none to wait for', () => {
    expect(readJsonAnswer(`\`\`\`\n${' \n'.repeat(500_000)}x`)).toBeNull()
  })
})
