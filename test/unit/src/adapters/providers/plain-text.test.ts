import { describe, expect, it } from 'vitest'
import { plainText } from '../../../../../src/adapters/providers/plain-text.ts'

describe('plain text', () => {
  it.each([
    ['How <strong class="x">it</strong> works<br/>', 'How it works'],
    ['a < b and c > d', 'a < b and c > d'],
    ['&lt;b&gt; &amp;amp; &#39;&#x41;&quot; &nbsp;&unknown;', '<b> &amp; \'A" &unknown;'],
    ['<scr<b>ipt>alert(1)</script>', 'alert(1)'],
    ['one\n\ttwo\u0000three\u202Efour', 'one two three four'],
    ['&#0;&#xD800;&#x110000;x', 'x'],
    ['half \ud83d', 'half \ufffd'],
    ['<!-- not this -->kept<!---->', 'kept'],
    ['', ''],
  ])('of %j is %j', (marked, text) => {
    expect(plainText(marked, 100)).toBe(text)
  })

  it('is cut between characters', () => {
    expect(plainText('abcdef', 6)).toBe('abcdef')
    expect(plainText('abcdefg', 6)).toBe('abcde\u2026')
    expect(plainText('abcd\u{1f600}efg', 6)).toBe('abcd\u2026')
  })

  it('is soon made of anything', () => {
    for (const piece of ['<', '<a', '&', '&#', '<!--', ' ', '<a href="']) {
      expect(plainText(piece.repeat(1_000_000), 50).length).toBeLessThanOrEqual(50)
    }
  })
})
