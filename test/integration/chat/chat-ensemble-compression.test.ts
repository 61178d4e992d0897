import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  asked,
  askedFor,
  messagesIn,
  openEnsemble,
  QUESTIONS,
  questionsFor,
  resetEnsemble,
  stageIn,
  textIn,
} from '../../support/chat-ensemble.ts'
import { ChatWorld } from '../../support/chat-world.ts'
import { until } from '../../support/processes.ts'
import type { ChatQuestion } from '../../support/upstreams/openai.ts'

const CODE = '```js\nconst rate = 3.14159\n```'
const STAGE = 'Context compression'

let world: ChatWorld
beforeEach(async () => {
  world = await openEnsemble({}, 1)
  resetEnsemble(world, { summary: 'They spoke of rates.' })
})
afterEach(() => world.close())

/** A long conversation: turns of 1,000 characters, each with a number, the first with code. */
function talk(turns: number, name = 'rate') {
  return Array.from({ length: turns }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i === 0 ? `${CODE}\n` : ''}The ${name} of turn ${i} is ${70_000 + i}. `.padEnd(1_000, 'word '),
  }))
}

const asking = (messages: readonly { readonly role: string; readonly content: string }[]) => ({
  model: 'model-4' as const,
  messages: [{ role: 'system', content: 'Be brief.' }, ...messages, { role: 'user', content: QUESTIONS.fast }],
})

describe('a conversation with a long history', () => {
  it('is left alone up to the bound', async () => {
    const outcome = await world.outcome(
      asking(talk(20).map((one) => ({ ...one, content: one.content.slice(0, 1_000) }))),
    )
    expect(stageIn(outcome, STAGE)).toMatchObject({ ran: false, reason: 'the history is short enough' })
    expect(asked(world)).toEqual({ short: 1 })
  })

  it('has its oldest turns summarised, and everything else as it was', async () => {
    const messages = talk(30)
    const outcome = await world.outcome(asking(messages))
    expect(stageIn(outcome, STAGE).ran).toBe(true)
    const summaries = questionsFor(world, 'summary')
    expect(summaries.length).toBeGreaterThan(2)
    const given = messagesIn(questionsFor(world, 'short')[0] as ChatQuestion)
    expect(given[0]).toEqual({ role: 'system', content: 'Be brief.' })
    expect(given.at(-1)).toEqual({ role: 'user', content: QUESTIONS.fast })
    const kept = given.filter(({ role }) => role !== 'system').slice(0, -1)
    expect(kept.length).toBeGreaterThanOrEqual(6)
    expect(kept).toEqual(messages.slice(-kept.length))
    const summary = String(given.find(({ content }) => String(content).startsWith('The beginning of this'))?.content)
    // What the model left out was added, in order.
    expect(summary).toContain(CODE)
    const places = Array.from({ length: 30 - kept.length }, (_, i) => summary.indexOf(String(70_000 + i)))
    expect(places.every((place) => place > 0)).toBe(true)
    expect(places.toSorted((one, other) => one - other)).toEqual(places)
    expect(outcome.report.compression).toMatchObject({ summarised: summaries.length, remembered: 0, dropped: 0 })
    const { fromChars, toChars } = outcome.report.compression as { fromChars: number; toChars: number }
    expect(toChars).toBeLessThan(fromChars / 1.5)
  })

  it('has each piece summarised once, whichever caller asks', async () => {
    await world.outcome(asking(talk(30)))
    resetEnsemble(world, { summary: 'Another summary.' })
    const again = await world.outcome(asking(talk(31)))
    expect(asked(world).summary ?? 0).toBeLessThanOrEqual(1)
    expect((again.report.compression as { remembered: number }).remembered).toBeGreaterThan(2)
    resetEnsemble(world, { summary: 'Another summary.' })
    const other = await world.outcome(asking(talk(30, 'price')))
    expect((other.report.compression as { remembered: number }).remembered).toBe(0)
  })

  it('is given whole where it cannot be summarised, and that is said', async () => {
    world.fake.profile = (question) => (askedFor(question) === 'summary' ? '400' : 'ok')
    const messages = talk(30)
    const outcome = await world.outcome(asking(messages))
    expect(textIn(outcome)).toBe('The short.')
    expect(stageIn(outcome, STAGE)).toMatchObject({
      ran: true,
      reason: 'no summary could be made: the model behind model-4 does not take this request',
    })
    expect(outcome.report.compression).toMatchObject({ summarised: 0, dropped: 0 })
    expect(messagesIn(questionsFor(world, 'short')[0] as ChatQuestion)).toHaveLength(33)
  })

  it('loses its oldest turns where it cannot be summarised and has no room, and that is said', async () => {
    const small = await ChatWorld.open({ backends: [{ models: [{ context: 4_096 }] }] })
    resetEnsemble(small)
    small.fake.profile = (question) => (askedFor(question) === 'summary' ? '400' : 'ok')
    const outcome = await small.outcome(asking(talk(30)))
    const { dropped } = outcome.report.compression as { dropped: number }
    expect(dropped).toBeGreaterThan(10)
    const given = messagesIn(questionsFor(small, 'short')[0] as ChatQuestion).filter(({ role }) => role !== 'system')
    expect(given.slice(0, -1)).toEqual(talk(30).slice(dropped))
    await small.close()
  })

  it('fits a model with a small window in pieces', async () => {
    const small = await ChatWorld.open({ backends: [{ models: [{ context: 4_096 }] }] })
    resetEnsemble(small, { summary: 'Short.' })
    const outcome = await small.outcome(
      asking([...talk(2), { role: 'user', content: 'word '.repeat(8_000) }, ...talk(8)]),
    )
    expect(textIn(outcome)).toBe('The short.')
    expect(outcome.report.compression).toMatchObject({ dropped: 0 })
    await small.close()
  })

  it('is refused where the question alone has no room', async () => {
    const question = { role: 'user', content: 'word '.repeat(60_000) }
    const answer = await world.ask({ model: 'model-4', messages: [...talk(4), question] })
    expect(answer).toMatchObject({ ok: false, fault: { code: 'chat/context-length', detail: { param: 'messages' } } })
  })

  it('is given up when its caller leaves', async () => {
    world.fake.profile = 'hang'
    const leaving = new AbortController()
    const answer = world.ask(asking(talk(30)), leaving.signal)
    await until('pieces are summarised', () => world.fake.open > 1)
    expect(world.fake.open).toBeLessThanOrEqual(4)
    leaving.abort()
    expect(await answer).toMatchObject({ ok: false, fault: { code: 'chat/aborted' } })
    await world.settled()
  })

  it('is long beyond the window of any model', async () => {
    const outcome = await world.outcome(asking(talk(600)))
    expect(textIn(outcome)).toBe('The short.')
    expect(outcome.report.compression).toMatchObject({ dropped: expect.any(Number) })
    expect((outcome.report.compression as { fromChars: number }).fromChars).toBeGreaterThan(600_000)
  })
})
