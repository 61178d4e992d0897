import { describe, expect, it } from 'vitest'
import { findServices, serviceIndex } from '../../../../../marketplace/services/market/finding.ts'
import { SERVICE_TABLE } from '../../../../../marketplace/services/table.ts'
import {
  HELD_OUT_QUESTIONS,
  type LabelledQuestion,
  PARTLY_SEEN_QUESTIONS,
  TUNED_QUESTIONS,
} from '../../../../support/labelled/questions.ts'

const INDEX = serviceIndex(SERVICE_TABLE, (definition) => definition)
const idsFor = (question: string, isAvailable: (id: string) => boolean | null = () => true): readonly string[] =>
  findServices(INDEX, question, ({ serviceId }) => isAvailable(serviceId)).map(({ found }) => found.serviceId)

/** Minimum right answers of 30. These questions were partly known while the search words were chosen. */
const PARTLY_SEEN_RIGHT = 25
/** Minimum right answers of 20. These questions were held out, so they measure the search. */
const HELD_OUT_RIGHT = 10

/** Wrongly answered questions, with their results. */
const wrong = (questions: readonly LabelledQuestion[]): readonly string[] =>
  questions.flatMap(({ question, serviceIds }) => {
    const found = idsFor(question).slice(0, 3)
    const isRight = serviceIds.length === 0 ? found.length === 0 : serviceIds.some((id) => found.includes(id))
    return isRight ? [] : [`${question} -> ${found.join(', ')}`]
  })

describe('finding services by a question', () => {
  it('has the service that is meant among the first three, and nothing for what is not sold', () => {
    expect(wrong(TUNED_QUESTIONS)).toEqual([])
  })

  it('takes any form of a word, in any order, and what is to be worked on for no word', () => {
    expect(idsFor('prices in candles')).toContain('node-price-history')
    expect(idsFor('TRANSLATING')[0]).toBe('node-translate')
    expect(idsFor('feed price')[0]).toBe('node-price-feed')
    expect(idsFor('whois very.long.example.com')).toEqual(idsFor('whois'))
    expect(idsFor('8.8.8.8')).toEqual([])
  })

  it('has what can be bought before what cannot, and knows of no service that has nothing to do with it', () => {
    const found = idsFor('invoice', (id) => id !== 'node-invoice-pdf')
    expect(found.at(-1)).toBe('node-invoice-pdf')
    expect(found).toContain('node-invoice-proforma')
    expect(found.toSorted()).toEqual(idsFor('invoice').toSorted())
    expect(idsFor('invoice', () => null)).toEqual(idsFor('invoice'))
  })

  it('has every service first for its id, and among the first for its name', () => {
    for (const { serviceId, name } of SERVICE_TABLE) {
      expect(idsFor(serviceId)[0]).toBe(serviceId)
      expect(idsFor(name).slice(0, 3)).toContain(serviceId)
    }
  })

  it.each([
    [PARTLY_SEEN_QUESTIONS, PARTLY_SEEN_RIGHT],
    [HELD_OUT_QUESTIONS, HELD_OUT_RIGHT],
  ])('does so with many questions that it was not made for', (questions, right) => {
    const missed = wrong(questions)
    expect(questions.length - missed.length, missed.join('; ')).toBeGreaterThanOrEqual(right)
  })

  it('answers a question for refunds with the proof of a paid call, before documents of trade', () => {
    expect(idsFor('refund')[0]).toBe('node-receipt-verify')
  })
})
