import { expect, it } from 'vitest'
import { mentionsOf } from '../../../../../marketplace/chat/ensemble/words.ts'

const SIGNS = "-.'’".repeat(25_000)

it.each([
  ['node.js', ['code']],
  ['node.js...', ['code']],
  ['c++.', ['code']],
  [`python${SIGNS}`, ['code']],
  [`python${SIGNS} and poetry`, ['code']],
  [`python${SIGNS}#`, []],
  [`python${SIGNS}a`, []],
  [SIGNS, []],
] as const)('a word is read without the signs behind it (%#)', (text, mentions) => {
  expect([...mentionsOf(text)]).toEqual(mentions)
})
