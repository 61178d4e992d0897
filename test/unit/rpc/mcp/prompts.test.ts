import { describe, expect, it } from 'vitest'
import { getPrompt, listPrompts } from '../../../../rpc/mcp/prompts.ts'

const CHARS_MAX = 4_000

describe.each(listPrompts())('the prompt $name', ({ name, arguments: args }) => {
  const good = Object.fromEntries(args.map((argument) => [argument.name, 'x']))

  it.each(args)('takes $name of every length that its error names, and no other', ({ name: argument, required }) => {
    const given = (length: number) => () => getPrompt(name, { ...good, [argument]: 'x'.repeat(length) })
    const least = required ? 1 : 0
    const refusal = `${argument} must have ${least} to ${CHARS_MAX} characters`
    expect(given(CHARS_MAX + 1)).toThrow(refusal)
    for (const length of [least, CHARS_MAX]) expect(given(length)().messages).toHaveLength(1)
    if (required) expect(given(0)).toThrow(refusal)
  })

  it('can be had without its optional arguments, and not without the others', () => {
    const needed = Object.fromEntries(args.filter(({ required }) => required).map((one) => [one.name, 'x']))
    expect(getPrompt(name, needed).messages).toHaveLength(1)
    expect(() => getPrompt(name, {})).toThrow(`${Object.keys(needed)[0]} must have 1 to ${CHARS_MAX} characters`)
  })
})
