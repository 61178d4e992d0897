import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '../../../marketplace/services/context.ts'
import { checkRequest } from '../../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../../marketplace/services/table.ts'
import { AddressGuard } from '../../../src/adapters/address-guard.ts'
import { readPublicUrl } from '../../../src/adapters/public-url.ts'
import { openDocuments } from '../../../src/engines/documents/document-desk.ts'
import { outsideOf } from '../../support/outside.ts'
import { serviceChain } from '../../support/service-chain.ts'

/** The node does nothing else while it reads a request. This bound must hold on a slow, busy machine too. */
const READ_MS_MAX = 50
/** Garbage collection may slow one of several tries, not all. */
const TRIES = 5

const marks = (chars: number): string => `e${'\u0301'.repeat(chars / 2)}${'\u0323'.repeat(chars / 2)}`
const letters = (first: number, count: number): string =>
  Array.from({ length: count }, (_, i) => String.fromCodePoint(first + i)).join('')
const ENGLISH = 'the and that this those with without it its not are you your they '.repeat(31)
const document = (more: object): string =>
  JSON.stringify({
    invoiceNumber: 'A1',
    dueDate: '2027-01-01',
    buyer: { name: 'B' },
    items: [{ description: 'x', qty: 1, unitPrice: 1 }],
    vatRate: 19,
    ...more,
  })

const REQUESTS: Readonly<Record<string, string>> = {
  blanks: ' '.repeat(100_000),
  'a letter, line breaks, a letter': `a${'\n'.repeat(99_000)}b`,
  'letters and dots': 'a.'.repeat(50_000),
  'brackets that are never closed': '['.repeat(60_000),
  brackets: '['.repeat(32_000) + ']'.repeat(32_000),
  'many keys': `{${Array.from({ length: 8_000 }, (_, i) => `"${i.toString(36)}":1`).join()}}`,
  'a number with many zeros before its last digit': `{"vatRate":0.${'0'.repeat(65_000)}1}`,
  'a number with many zeros before its point': `{"vatRate":1${'0'.repeat(65_000)}.5}`,
  'many numbers with many zeros': `[${`0.${'0'.repeat(1_000)}1,`.repeat(64)}0]`,
  'a long number as text': document({ vatRate: `0.${'0'.repeat(60_000)}` }),
  'marks out of order': marks(32_000),
  'notes of marks out of order': document({ notes: marks(31_000) }),
  'notes of a thousand letters with six marks': document({ notes: marks(6).repeat(1_100) }),
  'letters that no font has': document({ notes: letters(0x13000, 1_000) }),
  'letters with no language': letters(0xc0, 400).repeat(250),
  'sentences that are all the same': 'The cat is here. '.repeat(5_800),
  'English, then marks': ENGLISH + marks(97_000),
  'English, then joiners': ENGLISH + '\u200d'.repeat(97_000),
  'English, then ends of sentences': ENGLISH + '.)"'.repeat(32_000),
  'a URL with a long host': `http://${letters(0x4e00, 2_000)}/`,
  'a URL with a long escaped host': `http://${encodeURIComponent(letters(0x4e00, 220))}/`,
  'a long domain': letters(0x4e00, 290),
  'an address with a long domain': `a@${letters(0x4e00, 250)}`,
  'a translation of marks': `de|${marks(4_900)}`,
  'half of a pair': '\ud800'.repeat(50_000),
}

let context: ServiceContext

beforeAll(async () => {
  const engines = outsideOf().engines
  const documents = await openDocuments({ engines, currency: 'EUR', fonts: [] })
  if (!documents.ok) throw new Error('the making of documents does not open')
  const guard = new AddressGuard([])
  const web = {
    ...outsideOf().web,
    readiness: () => ({ available: true, engine: 'http' }) as const,
    check: (text: string) => readPublicUrl(text, { ports: [80, 443], guard, ownHosts: new Set() }),
  }
  context = { ...(await serviceChain()).context, outside: outsideOf({ documents: documents.value, web }) }
})

describe('requests without a payment', () => {
  it.each(Object.entries(REQUESTS))('are read in no time by every service: %s', (_name, text) => {
    const slow = SERVICE_TABLE.flatMap((definition) =>
      [text, text.slice(0, definition.requestCharsMax)].flatMap((request) => {
        const ms = Math.min(...tries(() => checkRequest(definition, request, context)))
        return ms > READ_MS_MAX ? [`${definition.serviceId}: ${ms} ms`] : []
      }),
    )
    expect(slow).toEqual([])
  })
})

/** Milliseconds of each try, until one is quick. */
function tries(work: () => unknown): readonly number[] {
  const all: number[] = []
  while (all.length < TRIES && !all.some((ms) => ms <= READ_MS_MAX)) {
    const beganMs = performance.now()
    work()
    all.push(performance.now() - beganMs)
  }
  return all
}
