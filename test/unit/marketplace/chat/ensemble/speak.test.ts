import { describe, expect, it } from 'vitest'
import { ok } from '../../../../../consensus/primitives/result.ts'
import type { DeskQuestion } from '../../../../../marketplace/chat/desk.ts'
import { askForText } from '../../../../../marketplace/chat/ensemble/speak.ts'
import { firstState } from '../../../../../marketplace/chat/run-pipeline.ts'
import type { StageContext } from '../../../../../marketplace/chat/stage.ts'
import { callOf } from '../../../../support/chat-world.ts'

type Delta = Readonly<Record<string, unknown>>

const PAGE = { index: 1, url: 'https://a.example/', title: 'A', snippet: '' }

/** What the reader gets of an answer in these pieces. */
async function said(question: string, deltas: readonly Delta[], sources = [PAGE]) {
  const text = deltas.map(({ content = '' }) => content).join('')
  const heard: Delta[] = []
  const desk = {
    ask: async ({ sink }: DeskQuestion) => {
      for (const delta of deltas) await sink?.(delta)
      return ok({ text, finishReason: 'stop', model: 'm' })
    },
  }
  const context = {
    call: callOf(),
    desk,
    say: (delta: Delta) => void heard.push(delta),
    signal: new AbortController().signal,
  } as unknown as StageContext
  const spoken = await askForText({ ...firstState([], question), sources }, context, { roles: ['fast'], messages: [] })
  if (!spoken.ok) throw new Error('it failed')
  return { heard, state: spoken.value.state }
}

describe('an answer that cites, read along', () => {
  it('is the text of the state, and all fields beside it come through', async () => {
    const deltas = [
      { role: 'assistant', content: '' },
      { content: 'So [', reasoning: 'a' },
      { content: '1', reasoning: 'b' },
      { content: '9' },
      { content: '] and [1' },
      { content: ']' },
      { content: ' [' },
    ]
    const { heard, state } = await said('Who won today?', deltas)
    expect(heard).toEqual([
      { role: 'assistant', content: '' },
      { content: 'So ', reasoning: 'a' },
      { reasoning: 'b' },
      { content: ' and ' },
      { content: '[1]' },
      { content: ' ' },
      { content: '[' },
    ])
    expect(state).toMatchObject({ text: 'So  and [1] [', citations: [{ index: 1, start: 8, end: 11 }] })
  })

  it('is handed on as it is where nothing was to be searched for', async () => {
    const { heard, state } = await said('Solve 2x = 4', [{ content: 'x in [1, 2]' }], [])
    expect([heard, state.text, state.citations]).toEqual([[{ content: 'x in [1, 2]' }], 'x in [1, 2]', []])
  })
})
