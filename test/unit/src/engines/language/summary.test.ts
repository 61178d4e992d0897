import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { summarise } from '../../../../../src/engines/language/summary.ts'
import { EngineRefusal } from '../../../../../src/engines/refusal.ts'
import { TUNED_CHATS } from '../../../../support/labelled/shop.ts'
import { TUNED_DECISIONS, TUNED_TERMS } from '../../../../support/labelled/terms.ts'
import { SILENT_CODE } from '../../../../support/labelled/units.ts'
import { runs } from '../../../../support/runs.ts'

const REPORT = `The river flooded the old town of Aller on Monday night. Firefighters pumped water out of two hundred cellars.
The mayor said that the flood was the worst in forty years. A school and the town hall had to be closed.
Experts say that the flood came so quickly because the river
was narrowed in the last century. The town wants to widen the river again. A wider river would hold the water of a flood.
Nobody was hurt. The library lent its books as before.`

describe('a summary', () => {
  it('has a sentence and three to five key points of the text, word for word and in its order', () => {
    const { tldr, keyPoints } = summarise({ text: REPORT })
    expect(REPORT).toContain(tldr)
    expect(keyPoints).toHaveLength(3)
    const places = keyPoints.map((point) => REPORT.indexOf(point))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  it('is about what most of the text is about', () => {
    const { tldr, keyPoints } = summarise({ text: REPORT })
    expect(tldr).toMatch(/flood|river/)
    expect(keyPoints.filter((point) => /flood|river/.test(point)).length).toBeGreaterThanOrEqual(2)
    expect(keyPoints).not.toContain('The library lent its books as before.')
  })

  it('does not cut a sentence where its line was broken', () => {
    const broken = 'Experts say that the flood came so quickly because the river\nwas narrowed in the last century.'
    const text = `${broken} Nobody came home that day. Everybody stayed at work.`
    expect(summarise({ text }).keyPoints).toContain(broken)
    const windows = text.replace('\n', '\r\n')
    expect(summarise({ text: windows }).keyPoints).toContain(broken.replace('\n', '\r\n'))
  })

  it.for([
    'Kind regards, Urs Brunner, Teehaus Brunner AG, Zurich.',
    'Kind regards,\nUrs Brunner, Teehaus Brunner AG\nBahnhofstrasse 3, 8001 Zurich\nurs@brunner.example',
    '-- \nTeehaus Brunner AG for teapots of all sizes\nThe teapots of Zurich, since 1911.',
  ])('has no greeting and no signature of a letter for a key point: %j', (leave) => {
    const letter = [
      'The first lot of teapots is needed in Zurich by 14 January.',
      'We need an invoice for the teapots of the first lot by Friday.',
      'If the first lot is late, we may cancel the second lot of teapots.',
    ]
    const text = `Hello Ms Falk, thank you for your reply.\n${letter.join(' ')}\n${leave}`
    const { tldr, keyPoints } = summarise({ text })
    expect(keyPoints).toEqual(letter)
    expect(letter).toContain(tldr)
  })

  it('is refused of fewer than three different sentences', () => {
    for (const text of ['', 'a'.repeat(500), 'Buy it now today! '.repeat(50), 'One two. Three four. Five six.']) {
      expect(() => summarise({ text })).toThrow(EngineRefusal)
    }
  })

  it('takes the one sentence that matters as a key point too where there are only three', () => {
    const sentences = ['The river rose quickly.', 'The mayor closed the bridge.', 'The bridge over the river held.']
    expect(summarise({ text: sentences.join(' ') }).keyPoints).toEqual(sentences)
  })

  it.for([
    'It holds the water of the river above the town in spring.',
    'They hold the water of the river above the town in spring.',
    'This holds the water of the river above the town in spring.',
    'However, the dam holds the water of the river above the town in spring.',
    'The latter holds the water of the river above the town in spring.',
    'For example, the dam holds the water of the river above the town in spring.',
    'Some of them hold the water of the river above the town in spring.',
    'In the second year its water rose over the dam of the river above the town in spring.',
    'In such cases the dam holds the water of the river above the town in spring.',
    'The dam holds the water of the river above the town in spring for half of that price.',
  ])('has %j only with the sentence before it', (leaning) => {
    const text = [
      'Monks built a wall long ago.',
      leaning,
      'The river floods the town every spring.',
      'The water of the river rose over the dam in March.',
      'The dam above the town is made of stone.',
      'A wider river would carry more water in spring.',
      'The town wants to widen the river below the dam.',
    ].join(' ')
    const { tldr, keyPoints } = summarise({ text })
    expect(tldr).not.toBe(leaning)
    const at = keyPoints.indexOf(leaning)
    if (at >= 0) expect(keyPoints[at - 1]).toBe('Monks built a wall long ago.')
  })

  it.for(TUNED_CHATS)(
    'of a dialogue begins with a statement, and has no greeting, farewell or bare question',
    (chat) => {
      const { tldr, keyPoints } = summarise({ text: chat.turns.join('\n') })
      expect(chat.main).toContain(chat.turns.indexOf(tldr))
      for (const point of keyPoints) expect(chat.idle).not.toContain(chat.turns.indexOf(point))
    },
  )

  it.for(TUNED_DECISIONS)(
    'of a dialogue has what was decided and when, and no chat: $turns.0',
    ({ turns, idle, wanted }) => {
      const { tldr, keyPoints } = summarise({ text: turns.join('\n') })
      const places = [tldr, ...keyPoints].map((turn) => turns.indexOf(turn))
      expect(places).toEqual(expect.arrayContaining([...(wanted ?? [])]))
      expect(places.filter((place) => idle.includes(place))).toEqual([])
    },
  )

  it.for(TUNED_TERMS)('of clauses and lists is made of whole parts: $main', ({ text, parts, main }) => {
    const { tldr, keyPoints } = summarise({ text })
    for (const one of keyPoints) expect(parts).toContain(one)
    expect(main).toContain(parts.indexOf(tldr))
  })

  it('of a list has the lines that go on with an item in it, and the sentence behind the list by itself', () => {
    const items = [
      'forty mugs and\n  twelve bowls',
      'price tags and\na pen of the shop',
      'a cloth of 3 m',
      'a card reader',
    ]
    const text = `${items.map((item) => `- ${item}`).join('\n')}\nWe leave on Thursday.\n\nRegards from all`
    const { tldr, keyPoints } = summarise({ text })
    for (const one of [tldr, ...keyPoints]) expect([...items, 'We leave on Thursday.']).toContain(one)
  })

  it('of terms does not begin with their title, nor with the heading of a clause', () => {
    const first = 'These terms apply to all sales of the workshop.'
    const text = `TERMS OF THE WORKSHOP\n\n1. Scope of terms. ${first} 2. Prices. All prices are net. 3. Law of contract. The law of Malta applies.`
    const { tldr, keyPoints } = summarise({ text })
    expect(tldr).toBe(first)
    expect(keyPoints.join()).not.toContain('Law of contract')
  })

  it('of a dialogue does not count its times and speakers as words', () => {
    const said = [
      'The river rose over the dam.',
      'The dam held the river.',
      'A cat slept in the hall.',
      'The river fell behind the dam.',
      'The dam leaks into the river.',
      'A new dam would hold the river.',
    ]
    const text = said.map((one, i) => `[26.11.26, 12:0${i}] ${i === 2 ? 'Anna' : 'Cat Hall'}: ${one}`).join('\n')
    expect(summarise({ text }).tldr).toMatch(/river.*dam/)
    expect(summarise({ text }).keyPoints.join()).not.toContain('slept')
  })

  it('of a dialogue in which people only greet and ask is made of that', () => {
    const text = 'Anna: Hello Ben, nice to see you.\nBen: How are you, Anna?\nAnna: I am fine, thank you Ben.'
    expect(summarise({ text }).keyPoints).toEqual(text.split('\n'))
  })

  it.for(SILENT_CODE)('is refused of a program that says nothing to people: %j', (text) => {
    expect(() => summarise({ text })).toThrow('is a program')
  })

  it('has no headline that calls a person by the last name only', () => {
    const first = 'The minister Paul Henderson announced a tax on diesel.'
    const text = `${first} Henderson says the tax on diesel pays for buses and for roads. Drivers say the tax is too high. Buses need roads.`
    expect(summarise({ text }).tldr).not.toMatch(/^Henderson/)
  })

  it('takes the sentence that names the thing too, where one that points back is needed', () => {
    const sentences = ['The river rose on Monday.', 'It flooded the cellars of the town.', 'It took a bridge with it.']
    expect(summarise({ text: sentences.join(' ') }).keyPoints).toEqual(sentences)
  })

  it('may begin with words that point at nothing in the text', () => {
    const first = 'It is clear that the river needs a wider bed below the town.'
    const text = `${first} The town widens the river below the bridge. The bridge over the river was closed by the town.`
    expect(summarise({ text }).keyPoints).toContain(first)
  })

  it('does not cut a sentence after a title or the initial of a name', () => {
    const one = 'Dr. Lin Wei and John F. Smith measured the river.'
    const text = `${one} The river rose in May. The town closed the bridge.`
    expect(summarise({ text }).keyPoints).toContain(one)
  })

  it('of any text stands in it, if there is one', () => {
    const part = fc.constantFrom(
      'The',
      'river',
      'bank',
      'Mr.',
      '3.14',
      'it',
      'holds',
      '\n',
      '\r\n',
      '. ',
      '! ',
      '"',
      ')',
      '\u{1f525}',
    )
    const sentence = fc
      .tuple(fc.array(part, { maxLength: 12 }), fc.nat())
      .map(([parts, number]) => `The river bank ${parts.join(' ')} holds ${number} boats. `)
    const text = fc.oneof(
      fc.array(sentence, { minLength: 3, maxLength: 40 }).map((sentences) => sentences.join('')),
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: 'grapheme', maxLength: 400 }),
    )
    let made = 0
    fc.assert(
      fc.property(text, (text) => {
        const summary = attempt(text)
        if (summary === null) return
        made += 1
        expect(summary.keyPoints.length).toBeGreaterThanOrEqual(3)
        expect(summary.keyPoints.length).toBeLessThanOrEqual(5)
        for (const sentence of [summary.tldr, ...summary.keyPoints]) expect(text).toContain(sentence)
      }),
      { numRuns: runs(600) },
    )
    expect(made).toBeGreaterThan(50)
  })
})

function attempt(text: string): ReturnType<typeof summarise> | null {
  try {
    return summarise({ text })
  } catch (error) {
    if (error instanceof EngineRefusal) return null
    throw error
  }
}
