import { expect, test } from 'vitest'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { OwnHosts } from '../../../../src/adapters/own-hosts.ts'

const NEVER = new AbortController().signal
const PARTS = { publicUrl: 'https://node.example', announced: '/dns4/peer.example/tcp/1' }

/** A node's hosts, and DNS that answers on command. */
function world() {
  let nowMs = 1_000_000
  const asked: { readonly host: string; readonly answer: (found: Result<readonly string[]>) => void }[] = []
  const lookUp = (host: string, signal: AbortSignal) =>
    new Promise<Result<readonly string[]>>((resolve) => {
      asked.push({ host, answer: resolve })
      signal.addEventListener('abort', () => resolve(fail(fault('web/timeout', { host }))))
    })
  const own = new OwnHosts(PARTS, { names: { lookUp }, clock: { now: () => nowMs } })
  const answer = (found: Readonly<Record<string, readonly string[]>>): void => {
    for (const { host, answer } of asked.splice(0))
      answer(found[host] === undefined ? fail(fault('web/timeout', { host })) : ok(found[host]))
  }
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { own, asked, answer, pass }
}

const FOUND = { 'node.example': ['93.184.216.1'], 'peer.example': ['93.184.216.2', '2a00::1'] }
const ALL = ['93.184.216.1', '93.184.216.2', '2a00::1']

test('all readers that come before they are known wait for them', async () => {
  const { own, asked, answer } = world()
  const readers = [own.addresses(NEVER), own.addresses(NEVER), own.addresses(NEVER)]
  expect(asked).toHaveLength(2)
  answer(FOUND)
  expect(await Promise.all(readers)).toEqual([ALL, ALL, ALL])
})

test('a reader who gives up does not end the question of the others', async () => {
  const { own, answer } = world()
  const call = new AbortController()
  const first = own.addresses(call.signal)
  const second = own.addresses(NEVER)
  call.abort()
  await first
  answer(FOUND)
  expect(await second).toEqual(ALL)
})

test('what was known of a host counts until there is something newer', async () => {
  const { own, asked, answer, pass } = world()
  const first = own.addresses(NEVER)
  answer(FOUND)
  await first
  pass(400_000)
  const refresh = own.addresses(NEVER)
  expect(await own.addresses(NEVER)).toEqual(ALL)
  answer({ 'peer.example': ['93.184.216.9'] })
  expect(await refresh).toEqual(['93.184.216.1', '93.184.216.9'])
  expect(asked).toHaveLength(0)
  void own.addresses(NEVER)
  expect(asked.map(({ host }) => host)).toEqual(['node.example', 'peer.example'])
})
