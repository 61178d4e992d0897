import { expect, it } from 'vitest'
import { type AgentTask, TASK_KEPT_MS, TASKS_MAX, TaskStore } from '../../../../rpc/a2a/tasks.ts'

const HOUR_MS = TASK_KEPT_MS
const HONEST = { network: '192.0.2', address: '192.0.2.1' }
const HOSTILE = { network: '203.0.113', address: '203.0.113.1' }

function task(id: string, change: Partial<AgentTask> = {}): AgentTask {
  return {
    id,
    contextId: 'c',
    serviceId: 'node-a',
    request: '',
    holder: HONEST,
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
  for (let i = 0; i <= TASKS_MAX; i++) store.keep(task(String(i)))
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
  // The second task was changed longest ago.
  expect(['first', 'second', 'third', 'fourth'].map((id) => store.get(id, 0) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
})

it('drops unpaid tasks before paid ones, however many callers ask', () => {
  const store = new TaskStore()
  const artifact = { text: '{}', sent: (): void => {} }
  store.keep(task('done', { state: 'completed', artifact }))
  store.keep(task('busy', { state: 'working', running: Promise.resolve() }))
  for (let i = 0; i < TASKS_MAX + 100; i++) store.keep(task(String(i)))
  expect(['done', 'busy', '101', '102', String(TASKS_MAX + 99)].map((id) => store.get(id, 0) !== undefined)).toEqual([
    ...[true, true, false, true, true],
  ])
  for (let i = 0; i < TASKS_MAX; i++) store.keep(task(`paid ${i}`, { state: 'completed', artifact }))
  expect(['done', 'busy', `paid ${TASKS_MAX - 1}`].map((id) => store.get(id, 0) !== undefined)).toEqual([
    ...[false, false, true],
  ])
  store.keep(task('newest'))
  expect(store.get('newest', 0)?.id).toBe('newest')
})

it.each([
  ['many', { request: '' }, TASKS_MAX + 100],
  ['long', { request: 'x'.repeat(1_024 * 1_024) }, 100],
])('drops those of the client who has too %s before those of others', (_, change, count) => {
  const store = new TaskStore()
  store.keep(task('honest', { request: 'a question' }))
  for (let i = 0; i < count; i++) store.keep(task(`hostile ${i}`, { ...change, holder: HOSTILE }))
  expect(store.get('honest', 0)?.id).toBe('honest')
  expect(store.get('hostile 0', 0)).toBeUndefined()
  expect(store.get(`hostile ${count - 1}`, 0)?.id).toBe(`hostile ${count - 1}`)
})
