import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '../../../../../marketplace/services/context.ts'
import { pastedText } from '../../../../../marketplace/services/text/pasted-text.ts'
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
      '> ',
      'On 3 May 2026, Shop wrote:',
      '<blockquote type="cite">',
      '</blockquote>',
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

const OWN =
  'My IBAN is DE89 3704 0044 0532 0130 00. Please send the refund this week. The second mug arrived and I will keep it.'
const QUOTE = 'Thank you for your order of plates!\nWe love that you chose us. Enjoy your beautiful plates, Xaver Zech!'
const MARKED = QUOTE.replaceAll(/^/gm, '> ')
const WROTE = 'On Mon, 23 Nov 2026 at 10:12, Shop <shop@falk.example> wrote:'

describe('a mail that quotes another', () => {
  let context: ServiceContext
  beforeAll(async () => {
    context = { ...(await emptyServiceChain()).context, outside: outsideOf({ engines: ENGINES_HERE }) }
  })

  it.for([
    ['above the answer', `${WROTE}\n${MARKED}\n>\n\n${OWN}`],
    ['below the answer', `${OWN}\n\n${WROTE}\n\n${MARKED}`],
    ['in German', `${OWN}\nAm 23.11.26 um 10:12 schrieb Shop <shop@falk.example>:\n${MARKED}`],
    ['with a broken line', `${OWN}\n${WROTE.replace('Shop ', 'Shop\n')}\n${MARKED}`],
    ['by name alone', `${OWN}\r\nThe shop wrote:\r\n>> Older.\r\n${MARKED}`],
    ['with signs as entities', `${OWN}\nThe shop wrote:\n${MARKED.replaceAll('>', '&gt;')}`],
    [
      'as HTML of Gmail',
      `<div>${OWN}</div><div class="gmail_quote"><div>${WROTE.replaceAll('<', '&lt;')}</div><blockquote>${QUOTE.replace('\n', '<br>')}</blockquote></div>`,
    ],
    ['as HTML of others', `<p>${OWN}</p><blockquote type="cite"><p>${QUOTE}</p><p>Bye</p></blockquote><p></p>`],
  ] as const)('is read without that, %s', ([, mail]) => {
    expect(pastedText(mail).trim()).toBe(OWN)
  })

  it.for(['node-summarize', 'node-keywords', 'node-sentiment'])(
    '%s says the same of it as of the answer',
    async (id) => {
      const clock = { now: () => Date.UTC(2026, 10, 20, 12) }
      const mail = await resultOf(id, `${WROTE}\n${MARKED}\n\n${OWN}`, { ...context, clock })
      expect(mail).toEqual(await resultOf(id, OWN, { ...context, clock }))
    },
  )

  it('is read whole and without marks where nothing else is there, or too little for a summary', () => {
    expect(pastedText(`${WROTE}\n> ${MARKED.replace('\n', '\n> ')}`)).toBe(QUOTE)
    expect(pastedText(`See below.\n${WROTE}\n${MARKED}`, 80)).toBe(`See below.\n${QUOTE}`)
    expect(pastedText(`See below.\n${WROTE}\n${MARKED}`)).toBe('See below.')
  })

  it.for([
    'Of all mugs\n>50 % were broken\n>= 3 were lost.',
    'On Monday I met the potter.\nShe wrote:\nThe mugs are lovely.',
    'a > b and b > c',
    'On 3 May 2026 I ordered.\nThen she wrote:\nThe mugs are lovely.',
    'On 3 May 2021 the chairman wrote:\nThe bank has never lost a cent.\nThe court found three million missing.',
  ])('is not %j', (text) => {
    expect(pastedText(text)).toBe(text)
  })

  it('keeps what no mail quotes, and what was passed on, without the marks', () => {
    const warning = 'Back up your data before the upgrade, or it will be lost.'
    expect(pastedText(`Read this first:\n> ${warning}\nThen go on.`)).toBe(`Read this first:\n${warning}\nThen go on.`)
    const note = 'Please tell me what you think of this, and whether we can pay so much for it by the end of the month.'
    const passedOn = `${note}\n\n---------- Forwarded message ---------\n${WROTE}\n${MARKED}`
    expect(pastedText(passedOn, 80)).toContain(QUOTE)
    const french = `${note}\n\n--- Message transf\u00e9r\u00e9 ---\nLe lun. 23 nov. 2026 \u00e0 10:12, Shop a \u00e9crit :\n${MARKED}`
    expect(pastedText(french, 80)).toContain(QUOTE)
    for (const marker of [
      '----- Forwarded message from Anna <a@b.example> -----',
      '------- Forwarded message follows -------',
    ])
      expect(pastedText(`${note}\n\n${marker}\n${WROTE}\n${MARKED}`, 80)).toContain(QUOTE)
    const thread = `${OWN}\n${WROTE}\n> See below.\n> ---------- Forwarded message ---------\n> You are terrible.`
    expect(pastedText(thread).trim()).toBe(OWN)
    const answer = `${OWN}\n${WROTE}\n> ----- Forwarded message from Anna -----\n> You are terrible.`
    expect(pastedText(answer).trim()).toBe(OWN)
    expect(pastedText(`${note}\n\nBegin forwarded message:\n${MARKED}`, 80)).toContain(QUOTE)
    expect(pastedText(`${OWN}\n> a line of output\nGo on.\n${WROTE}\n${MARKED}`)).toContain('> a line of output')
  })

  it('is no page with a block quote', () => {
    const page = `<h1>Mugs</h1><blockquote>The best mug of all.</blockquote><p>So says the potter.</p>`
    expect(pastedText(page)).toBe('Mugs\nThe best mug of all.\nSo says the potter.')
  })

  it('is read in little time, however it is written', () => {
    const texts = [
      '> ',
      '>\n',
      'On 1:11 ',
      'On 1111 wrote:\n',
      'schrieb ',
      '<blockquote type=cite>',
      '<p class= class= ',
    ]
    // Work that grows faster than the length would time out.
    const all = texts.map((text) => `<p><p>${text.repeat(100_000 / text.length)}`)
    // An attribution line makes the code examine all other lines.
    for (const text of [' ', '\r', '\u2028', '>\r', '> ', '-', '- ', '>-\n', '\n', 'Begin '])
      all.push(`${OWN}\n${WROTE}\n> hello\n${text.repeat(100_000 / text.length)}x`)
    for (const text of all) expect(pastedText(text).length).toBeLessThanOrEqual(text.length)
  })
})
