import { expect, it } from 'vitest'
import { type AgentTask, TaskStore } from '../../../../rpc/a2a/tasks.ts'

const HOUR_MS = 3_600_000

function task(id: string, change: Partial<AgentTask> = {}): AgentTask {
  return {
    id,
    contextId: 'c',
    serviceId: 'node-a',
    request: '',
    state: 'input-required',
    says: { text: '', metadata: {} },
    artifact: null,
    paymentId: null,
    changedMs: 0,
    running: null,
    bug: undefined,
    ...change,
  }
}

it('keeps a task for an hour after its last change, and one that is worked on for longer', () => {
  const store = new TaskStore()
  store.keep(task('idle'))
  store.keep(task('busy', { running: Promise.resolve() }))
  expect(store.get('idle', HOUR_MS)?.id).toBe('idle')
  expect(store.get('idle', HOUR_MS + 1)).toBeUndefined()
  expect(store.get('idle', 0)).toBeUndefined()
  expect(store.get('busy', HOUR_MS + 1)?.id).toBe('busy')
  expect(store.get('none', 0)).toBeUndefined()
})

it('drops the oldest where there are too many', () => {
  const store = new TaskStore()
  for (let i = 0; i <= 2_000; i++) store.keep(task(String(i)))
  expect(store.get('0', 0)).toBeUndefined()
  expect(store.get('1', 0)?.id).toBe('1')
  expect(store.get('2000', 0)?.id).toBe('2000')
})

it('drops the oldest where they are too long, results counted and changes counted once', () => {
  const store = new TaskStore()
  const text = 'x'.repeat(10 * 1_024 * 1_024)
  const sent = (): void => {}
  const first = task('first')
  store.keep(first)
  store.keep(task('second', { request: text }))
  for (let i = 0; i < 10; i++) store.keep({ ...first, artifact: { text, sent } })
  store.keep(task('third', { request: text }))
  expect(['first', 'second', 'third'].map((id) => store.get(id, 0) !== undefined)).toEqual([true, true, true])
  store.keep(task('fourth', { request: text }))
  // The second was changed longest ago.
  expect(['first', 'second', 'third', 'fourth'].map((id) => store.get(id, 0) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
})
