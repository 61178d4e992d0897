import { describe, expect, it } from 'vitest'
import { chatError } from '../../../../rpc/chat/errors.ts'
import { readChatRequest } from '../../../../rpc/chat/read-request.ts'

const read = (more: Readonly<Record<string, unknown>>) =>
  readChatRequest(
    { model: 'model-1', messages: [{ role: 'user', content: 'Hello' }], ...more },
    { tokensMax: 100, resumes: false },
  )

function nested(levels: number): unknown {
  return JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
}

describe('the body of a chat', () => {
  it.each([
    ['metadata', (levels: number) => ({ metadata: nested(levels) })],
    [
      'tools',
      (levels: number) => ({ tools: [{ type: 'function', function: { name: 'a', parameters: nested(levels) } }] }),
    ],
    ['messages', (levels: number) => ({ messages: [{ role: 'user', content: 'Hello', of_nobody: nested(levels) }] })],
  ])('is refused where it is too deep to be written again: %s', (_, body) => {
    expect(read(body(50_000))).toMatchObject({ ok: false, fault: { code: 'chat/invalid-request' } })
    expect(read(body(100))).toMatchObject({ ok: true })
  })

  it.each([
    ['stop', 'x'.repeat(256), 'x'.repeat(257)],
    ['tool_choice', { type: 'function', function: { name: 'a' } }, { x: 'x'.repeat(20_000) }],
    ['logit_bias', { 50256: -100 }, Object.fromEntries(Array.from({ length: 1_025 }, (_, i) => [i, 0]))],
    ['logit_bias', { 1: 100 }, { 1: 101 }],
    ['logit_bias', { 1: 0.5 }, { 1: { much: 'x' } }],
    ['logit_bias', {}, { ['x'.repeat(100_000)]: 1 }],
  ])('bounds what goes to the models beside the messages: %s', (param, good, bad) => {
    const tools = [{ type: 'function', function: { name: 'a' } }]
    expect(read({ tools, [param]: good })).toMatchObject({ ok: true })
    const refused = read({ tools, [param]: bad })
    expect(refused).toMatchObject({ ok: false, fault: { code: 'chat/invalid-request', detail: { param } } })
    expect(JSON.stringify(refused).length).toBeLessThan(500)
  })

  it('is refused where a mode has no question behind it', () => {
    const alone = (model: string, more = {}) => read({ model, messages: [{ role: 'user', content: '@code' }], ...more })
    for (const model of ['model-2', 'model-3'])
      expect(alone(model)).toMatchObject({
        ok: false,
        fault: {
          code: 'chat/invalid-request',
          detail: { param: 'messages', reason: 'a mode needs a question behind it' },
        },
      })
    for (const model of ['model-1', 'model-4']) expect(alone(model)).toMatchObject({ ok: true })
    expect(alone('model-2', { response_format: { type: 'json_object' } })).toMatchObject({ ok: true })
  })

  it('is told where the model that speaks is to be found', () => {
    const refused = read({ model: 'model-voice' })
    const message =
      'model-voice is for /api/v1/voice and /api/v1/audio/speech; chats are for model-1, model-2, model-3, model-4'
    expect(refused.ok ? null : chatError(refused.fault)).toEqual({
      error: { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
    })
    expect(read({ model: 'model-9' })).toMatchObject({ fault: { code: 'chat/model-not-found' } })
  })

  it('says how strictly a schema is to be followed: not to the letter, unless said', () => {
    const form = (more: object) =>
      read({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, ...more } } })
    const schemaOf = (schema: object) => ({ ok: true, value: { call: { form: { is: 'schema', schema } } } })
    expect(form({})).toMatchObject(schemaOf({ name: 'a', schema: {}, strict: false }))
    expect(form({ strict: true, description: 'An a.' })).toMatchObject(schemaOf({ strict: true, description: 'An a.' }))
    expect(form({ strict: 'yes' })).toMatchObject({ ok: false, fault: { code: 'chat/invalid-request' } })
  })
})
