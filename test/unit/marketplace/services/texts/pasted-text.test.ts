import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '../../../../../marketplace/services/context.ts'
import { pastedText } from '../../../../../marketplace/services/texts/pasted-text.ts'
import { outsideOf } from '../../../../support/outside.ts'
import { runs } from '../../../../support/runs.ts'
import { emptyServiceChain } from '../../../../support/service-chain.ts'
import { resultOf } from '../../../../support/service-results.ts'
import { ENGINES_HERE } from '../../../../support/text-services.ts'

const PAGE = `<!DOCTYPE html><html><head><title>Offers</title><style>p { color: red }</style></head><body>
<!-- <p>The old text of the page.</p> --><h1>Pots &amp; pans</h1><div class="a">The blue pot of Anna Berg costs 40&nbsp;euros.</div><div>The red <b>pot</b> costs
30 euros &mdash; it is terrible.</div><ul><li>The pan of Anna Berg leaks.</li><li>Caf&eacute; cups are broken &#8364;</li></ul>
<script>if (a < b && c > d) alert('The script of the page.')</script></body></html>`
const TEXT = `Pots & pans
The blue pot of Anna Berg costs 40 euros.
The red pot costs 30 euros \u2014 it is terrible.
The pan of Anna Berg leaks.
Caf\u00e9 cups are broken \u20ac`

describe('a text that was pasted as HTML', () => {
  let context: ServiceContext
  beforeAll(async () => {
    context = { ...(await emptyServiceChain()).context, outside: outsideOf({ engines: ENGINES_HERE }) }
  })

  it('is read without tags, comments and scripts, a line for each block', () => {
    expect(pastedText(PAGE)).toBe(TEXT)
  })

  it.for([
    'A map of type Map<string, List<String>> is a <T> of its own.',
    'If a < b and c > d, then a <b> d.',
    'AT&T, Q&A and &unknown; stay; &#55296; too.',
  ])('is one only with tags: %j stays', (text) => {
    expect(pastedText(text)).toBe(text)
  })

  it.for(['node-summarize', 'node-keywords', 'node-sentiment'])('%s says the same of it as of its text', async (id) => {
    const clock = { now: () => Date.UTC(2026, 10, 20, 12) }
    const [pasted, plain] = [
      await resultOf(id, PAGE, { ...context, clock }),
      await resultOf(id, TEXT, { ...context, clock }),
    ]
    expect(pasted).toEqual(plain)
  })

  it('never gets longer, whatever the text', () => {
    const part = fc.constantFrom(
      '<',
      '>',
      '<p>',
      '</p>',
      '<!--',
      '-->',
      '<script>',
      '</script>',
      '&',
      '&lt;',
      ';',
      'a',
      ' ',
      '\n',
      '&#x41;',
    )
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join('')
        expect(pastedText(text).length).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: runs(300) },
    )
  })
})
