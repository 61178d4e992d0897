import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shortened } from '../../../../rpc/json/shortened.ts'
import { runs } from '../../../support/runs.ts'

describe('a text that is too long', () => {
  it.each([
    ['One sentence. And another that is long.', 20, 'One sentence.'],
    ['A text without any end, that goes on', 24, 'A text without any...'],
    ['Short enough.', 13, 'Short enough.'],
    ['Version 1.2 of what is sold here', 20, 'Version 1.2 of...'],
    ['Donaudampfschifffahrtsgesellschaft', 10, 'Donauda...'],
  ] as const)('%s', (text, most, shown) => {
    expect(shortened(text, most)).toBe(shown)
  })

  it('ends with a whole sentence, or with a whole word and an ellipsis', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,9}[.,;!?]?$/), { minLength: 1, maxLength: 60 })
    const cut = fc.property(words, fc.integer({ min: 20, max: 120 }), (parts, most) => {
      const text = parts.join(' ')
      const shown = shortened(text, most)
      expect(shown.length).toBeLessThanOrEqual(most)
      if (shown === text) return
      const kept = shown.replace(/\.\.\.$/, '')
      expect(text.startsWith(kept)).toBe(true)
      expect(text.slice(kept.length)).toMatch(/^[\s,;:]/)
      if (kept === shown) expect(shown).toMatch(/[.!?]$/)
    })
    fc.assert(cut, { numRuns: runs(500) })
  })
})
