import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { subjectsOf } from '../../../../../src/engines/language/subjects.ts'
import { TUNED_NAMES } from '../../../../support/labelled/shop.ts'
import { TUNED_HEADINGS } from '../../../../support/labelled/terms.ts'
import { runs } from '../../../../support/runs.ts'

const NEWS = `Tim Cook met Angela Merkel in Berlin. Farthing is a proof-of-work chain with a paid market. The paid market of the
chain sells services to agents, and agents pay in the coin of the chain. Later Angela Merkel flew to San Francisco.`

const flat = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ')

describe('what a text is about', () => {
  it('is told by its phrases, best first', () => {
    const { keywords } = subjectsOf({ text: NEWS })
    const texts = keywords.map(({ text }) => text)
    expect(texts).toContain('proof-of-work chain')
    expect(texts).toContain('paid market')
    expect(keywords[0]?.score).toBe(1)
    expect(keywords.map(({ score }) => score)).toEqual(keywords.map(({ score }) => score).sort((a, b) => b - a))
    expect(texts).not.toContain('the')
  })

  it('is told by the words that come up again', () => {
    expect(subjectsOf({ text: NEWS }).topics.slice(0, 2)).toEqual(['chain', 'agents'])
    expect(subjectsOf({ text: 'Every word stands once here.' }).topics).toEqual([])
  })

  it('is told by names, each once', () => {
    expect(subjectsOf({ text: NEWS }).entities).toEqual([
      { text: 'Tim Cook', type: 'person' },
      { text: 'Angela Merkel', type: 'person' },
      { text: 'Berlin', type: 'place' },
      { text: 'San Francisco', type: 'place' },
    ])
  })

  it('is told by names as a whole, not by parts of them', () => {
    const text =
      'The New York Times printed a portrait of Ada Lovelace. Ada Lovelace worked with Charles Babbage, and the portrait shows both.'
    const { keywords, entities } = subjectsOf({ text })
    const texts = keywords.map((keyword) => keyword.text)
    expect(texts[0]).toBe('Ada Lovelace')
    expect(texts).toEqual(expect.arrayContaining(['New York Times', 'Charles Babbage']))
    for (const part of ['ada', 'lovelace', 'york', 'times', 'new york']) expect(texts.map(flat)).not.toContain(part)
    expect(entities).toContainEqual({ text: 'Ada Lovelace', type: 'person' })
    expect(entities).toContainEqual({ text: 'New York Times', type: 'organisation' })
  })

  it('is told by phrases that no verb, punctuation or border of a clause goes through', () => {
    const text =
      'The market sells services to agents, servers run out of memory; disks arrive late. The market pays validators when blocks arrive.'
    const texts = subjectsOf({ text }).keywords.map((keyword) => keyword.text)
    for (const word of ['sells', 'run', 'pays', 'arrive', 'agents servers', 'memory disks'])
      expect(texts.filter((phrase) => phrase.includes(word))).toEqual([])
    expect(texts).toEqual(expect.arrayContaining(['market', 'services', 'agents', 'servers', 'validators']))
  })

  it('is told by what stands late in a long text too', () => {
    const early = 'The ferry leaves the harbour at noon. '.repeat(600)
    const late = 'Then Grace Hopper wrote a compiler for the navy. '.repeat(400)
    const { keywords, topics } = subjectsOf({ text: `${early}${late}` })
    expect(keywords.map((keyword) => keyword.text)).toEqual(
      expect.arrayContaining(['ferry', 'Grace Hopper', 'compiler']),
    )
    expect(topics).toContain('compiler')
  })

  it('is told by a phrase without its parts, unless they stand alone as often', () => {
    const text =
      'Machine learning needs data. Good machine learning needs clean data, and the team behind machine learning needs time for data.'
    const texts = subjectsOf({ text }).keywords.map((keyword) => keyword.text)
    expect(texts).toContain('machine learning')
    expect(texts).toContain('data')
    expect(texts).not.toContain('machine')
    expect(texts).not.toContain('learning')
    expect(subjectsOf({ text: 'running' }).keywords).toEqual([{ text: 'running', score: 1 }])
  })

  it.for(TUNED_NAMES)('is told by whole names, and by no answer, heading or word of address: $names', (labels) => {
    const { entities, keywords } = subjectsOf(labels)
    const names = entities.map((entity) => entity.text)
    expect(names).toEqual(expect.arrayContaining([...labels.names]))
    for (const one of [...names, ...keywords.map((keyword) => keyword.text)]) {
      expect(labels.never).not.toContain(one.toLowerCase())
    }
  })

  it.for(TUNED_HEADINGS)('is told by no heading, first word of a sentence or code as a name: $names', (labels) => {
    const { entities, keywords } = subjectsOf(labels)
    const names = entities.map((entity) => entity.text)
    expect(names).toEqual(expect.arrayContaining([...labels.names]))
    const lower = names.map((name) => name.toLowerCase())
    for (const none of [...labels.never, ...(labels.neverNames ?? [])]) expect(lower).not.toContain(none)
    for (const { text } of keywords) expect(labels.never).not.toContain(text.toLowerCase())
  })

  it('is told by names in the heading of a clause that stand elsewhere too, or that are known', () => {
    const text =
      '1. Zorbella Grimm. Her shop is Zorbella Grimm. 2. Governing Law. The law is that of Malta. 3. Anna Berg. She sells.'
    const names = subjectsOf({ text }).entities.map((entity) => entity.text)
    expect(names).toEqual(expect.arrayContaining(['Zorbella Grimm', 'Malta', 'Anna Berg']))
    expect(names).not.toContain('Governing Law')
  })

  it('is told by a person once, also where another sentence has only the last name', () => {
    const text =
      'Piotr Wi\u015bniewski called in the morning. In the evening Mr Wi\u015bniewski came to York from New York.'
    const persons = subjectsOf({ text }).entities.filter(({ type }) => type === 'person')
    expect(persons).toEqual([{ text: 'Piotr Wi\u015bniewski', type: 'person' }])
  })

  it('is told by names that no cut of a long text goes through', () => {
    const lines = `${'The ferry leaves the old harbour at noon. '.repeat(11)}\nAsk for Piotr Wi\u015bniewski, the captain of the ferry.\n`
    for (let shift = 0; shift < 40; shift++) {
      const { entities } = subjectsOf({ text: `${'x'.repeat(shift)} ${lines}` })
      expect(entities.map((entity) => entity.text)).toEqual(['Piotr Wi\u015bniewski'])
    }
  })

  it('stands in the text, whatever the text', () => {
    const words = [
      'Berlin',
      "Merkel's",
      'the',
      'Tim',
      'Cook',
      'chain',
      '-',
      '3',
      '.',
      '\n',
      '\u{1f525}',
      'na\u00efve',
      '(',
      '@x',
    ]
    const text = fc.oneof(
      fc.array(fc.constantFrom(...words)).map((parts) => parts.join(' ')),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
    )
    fc.assert(
      fc.property(text, (text) => {
        const { keywords, entities, topics } = subjectsOf({ text })
        expect(keywords.length).toBeLessThanOrEqual(15)
        expect(entities.length).toBeLessThanOrEqual(30)
        expect(topics.length).toBeLessThanOrEqual(5)
        for (const { text: found, score } of keywords) {
          expect(flat(text)).toContain(flat(found))
          expect(score > 0 && score <= 1).toBe(true)
        }
        for (const { text: name } of entities) expect(text).toContain(name)
      }),
      { numRuns: runs(300) },
    )
  })
})
