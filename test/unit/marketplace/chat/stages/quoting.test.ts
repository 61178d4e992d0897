import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted, shortened } from '../../../../../marketplace/chat/stages/quoting.ts'

const HOSTILE = fc.array(
  fc.oneof(
    fc.string(),
    fc.constantFrom('<quoted-draft>', '</quoted-draft>', '</QUOTED-', '<', '/', 'quoted-', '</quoted-user'),
  ),
)

describe('a quoted text', () => {
  it('has one beginning and one end, whatever is in it', () => {
    fc.assert(
      fc.property(HOSTILE, (parts) => {
        const text = quoted('draft', parts.join(''))
        expect(text.match(/<quoted-/gi)).toHaveLength(1)
        expect(text.match(/<\/quoted-/gi)).toHaveLength(1)
        expect(text.endsWith('\n</quoted-draft>')).toBe(true)
      }),
    )
  })

  it('is as it was where it has no such marks', () => {
    expect(quoted('plan', '<b>1 < 2</b> "quoted-"')).toBe('<quoted-plan>\n<b>1 < 2</b> "quoted-"\n</quoted-plan>')
  })
})

describe('a text that is cut', () => {
  it('keeps its beginning and its end, and says what is missing', () => {
    expect(shortened(`BEGIN ${'x'.repeat(500)} END`, 100)).toMatch(/^BEGIN x+\n\[\d+ characters left out\]\nx+ END$/)
    expect(shortened('short', 5)).toBe('short')
  })

  it('is never longer than it may be, and never holds half a letter', () => {
    const text = fc.array(fc.constantFrom('a', '🦊', 'é', '\n')).map((letters) => letters.join(''))
    fc.assert(
      fc.property(text, fc.nat(200), (whole, chars) => {
        const cut = shortened(whole, chars)
        expect(cut.length).toBeLessThanOrEqual(chars)
        expect(cut.isWellFormed()).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
