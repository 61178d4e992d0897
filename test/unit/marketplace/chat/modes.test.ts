import { describe, expect, it } from 'vitest'
import type { ChatMessage } from '../../../../marketplace/chat/models/backend.ts'
import { isModeAlone, modeNotes, withModes } from '../../../../marketplace/chat/modes.ts'
import { firstState } from '../../../../marketplace/chat/run-pipeline.ts'

const read = (content: string, model: 'model-1' | 'model-2' | 'model-3' = 'model-2') => {
  const { mode, question, messages } = withModes(model)(firstState([{ role: 'user', content }], content))
  expect(messages).toEqual([{ role: 'user', content: question }])
  return [mode, question]
}

describe('modes of a question', () => {
  it.for([
    ['@code sort a list', 'code', 'sort a list'],
    ['  @CODE\n\nsort', 'code', 'sort'],
    ['@Plan: a trip', 'plan', 'a trip'],
    ['@plan, @code a trip', 'plan+code', 'a trip'],
    ['@code @code sort', 'code', 'sort'],
    ['@agent', 'agent', '@agent'],
    ['@code @plan', 'code+plan', '@code @plan'],
  ] as const)('are the words at its beginning: %s', ([content, mode, question]) => {
    expect(read(content)).toEqual([mode, question])
  })

  it.for([
    'sort @code',
    '@codes sort',
    '@code-review this',
    '@blender a cube',
    '@constructor x',
    '@__proto__ x',
    'code sort',
    '@ code sort',
    'me@code sort',
    '',
  ])('are none where no such word begins it: %s', (content) => {
    expect(read(content)).toEqual([null, content])
  })

  it('are those of its model', () => {
    expect(read('@web-design a shop', 'model-3')).toEqual(['web-design', 'a shop'])
    expect(read('@blender a cube', 'model-3')).toEqual(['blender', 'a cube'])
    expect(read('@agent do it', 'model-3')).toEqual([null, '@agent do it'])
    expect(read('@code x', 'model-1')).toEqual([null, '@code x'])
  })

  it('count in the last message of the user, and are taken out of all of them', () => {
    const messages: readonly ChatMessage[] = [
      { role: 'system', content: '@code is a mode' },
      { role: 'user', content: '@plan a trip' },
      { role: 'assistant', content: '@code yes' },
      {
        role: 'user',
        content: [{ type: 'image_url' }, { type: 'text', text: '@code it', x: 1 }, { type: 'text', text: 'b' }],
      },
    ]
    const state = withModes('model-2')(firstState(messages, '@code it\nb'))
    expect(state.mode).toBe('code')
    expect(state.question).toBe('it\nb')
    expect(state.messages).toEqual([
      messages[0],
      { role: 'user', content: 'a trip' },
      messages[2],
      {
        role: 'user',
        content: [{ type: 'image_url' }, { type: 'text', text: 'it', x: 1 }, { type: 'text', text: 'b' }],
      },
    ])
    expect(withModes('model-2')(firstState(messages.slice(0, 3), '@plan a trip')).mode).toBe('plan')
  })

  it('may be a part of their own', () => {
    const content = [
      { type: 'text', text: ' @code ' },
      { type: 'text', text: 'sort' },
    ]
    const { mode, messages, question } = withModes('model-2')(firstState([{ role: 'user', content }], '@code\nsort'))
    expect([mode, question, messages[0]?.content]).toEqual(['code', 'sort', [{ type: 'text', text: 'sort' }]])
  })

  it.for([
    ['model-2', '@code', true],
    ['model-2', ' @plan, @CODE: \n', true],
    ['model-3', '@web-design', true],
    ['model-2', '@code x', false],
    ['model-2', '@blender', false],
    ['model-1', '@code', false],
    ['model-2', '', false],
  ] as const)('are known to stand alone: %s %s', ([model, content, isAlone]) => {
    expect(isModeAlone(model, [{ role: 'user', content }])).toBe(isAlone)
    const parts = [{ type: 'text', text: content }]
    expect(isModeAlone(model, [{ role: 'user', content: parts }])).toBe(isAlone)
    expect(
      isModeAlone(model, [
        { role: 'user', content },
        { role: 'user', content: 'sort' },
      ]),
    ).toBe(false)
  })

  it('say something to the stages they are about', () => {
    expect(modeNotes('model-2', { mode: 'plan' }, 'Executor')).toMatch(/do not carry it out/)
    expect(modeNotes('model-2', { mode: 'plan+code' }, 'Executor').split('\n')).toHaveLength(2)
    expect(modeNotes('model-2', { mode: null }, 'Executor')).toBe('')
    expect(modeNotes('model-3', { mode: 'blender' }, 'Validator')).toBe('')
  })
})
