import { createSocket } from 'node:dgram'
import { describe, expect, test } from 'vitest'
import { type NameQuestions, NameSystem } from '../../../../src/adapters/name-system.ts'
import { ManualTimers } from '../../../support/mining.ts'

const NEVER = new AbortController().signal
const answer = (code: string): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }))

function serversThat(answers: Partial<NameQuestions>): { readonly ask: () => NameQuestions } {
  const noAddresses = { resolve4: () => answer('ENODATA'), resolve6: () => answer('ENODATA') }
  const rest = { resolveMx: () => answer('ENODATA'), resolveNs: async () => ['a.root-servers.net'], cancel: () => {} }
  return { ask: () => ({ ...noAddresses, ...rest, ...answers }) }
}

describe('addresses of a host', () => {
  test('are those of both versions', async () => {
    const names = new NameSystem(
      [],
      serversThat({ resolve4: async () => ['192.0.2.1'], resolve6: async () => ['::5'] }),
    )
    expect(await names.lookUp('a.example', NEVER)).toEqual({ ok: true, value: ['192.0.2.1', '::5'] })
  })

  test('are those of one version where the other cannot be had', async () => {
    const names = new NameSystem(
      [],
      serversThat({ resolve4: async () => ['192.0.2.1'], resolve6: () => answer('ESERVFAIL') }),
    )
    expect(await names.lookUp('a.example', NEVER)).toEqual({ ok: true, value: ['192.0.2.1'] })
  })

  test.each([
    ['ENOTFOUND', 'web/unreachable', 'there is no such name'],
    ['ENODATA', 'web/unreachable', 'its name has no address'],
    ['ESERVFAIL', 'web/unreachable', 'the name system says ESERVFAIL'],
    ['ETIMEOUT', 'web/timeout', undefined],
  ])('%s is %s', async (code, faultCode, reason) => {
    const names = new NameSystem([], serversThat({ resolve4: () => answer(code), resolve6: () => answer(code) }))
    const found = await names.lookUp('a.example', NEVER)
    expect(found).toMatchObject({
      ok: false,
      fault: { code: faultCode, detail: { host: 'a.example', ...(reason && { reason }) } },
    })
  })

  test('a question ends with the call, although no server answers', async () => {
    const silent = createSocket('udp4')
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve))
    const names = new NameSystem([`127.0.0.1:${silent.address().port}`])
    const call = new AbortController()
    let asked = 0
    silent.on('message', () => {
      asked++
      call.abort()
    })
    expect(await names.lookUp('a.example', call.signal)).toMatchObject({ ok: false, fault: { code: 'web/timeout' } })
    // One packet for each IP version: no server was asked again.
    expect(asked).toBeLessThanOrEqual(2)
    silent.close()
  })
})

describe('mail exchangers', () => {
  test('tell a name without any from a name that does not exist', async () => {
    const of = (code: string) =>
      new NameSystem([], serversThat({ resolveMx: () => answer(code) })).resolveMx('a.example', NEVER)
    expect(await of('ENODATA')).toEqual({ ok: true, value: { exists: true, records: [] } })
    expect(await of('ENOTFOUND')).toEqual({ ok: true, value: { exists: false, records: [] } })
    expect(await of('ESERVFAIL')).toMatchObject({ ok: false, fault: { code: 'web/unreachable' } })
  })
})

describe('readiness', () => {
  test('follows what the root answers, sooner while there is none', async () => {
    const timers = new ManualTimers()
    let root = () => answer('ECONNREFUSED') as Promise<string[]>
    const names = new NameSystem([], { ...serversThat({ resolveNs: () => root() }), timers })
    expect(names.readiness()).toMatchObject({ available: false })
    await names.check()
    expect(names.readiness()).toMatchObject({ available: false, reason: expect.stringContaining('ECONNREFUSED') })
    expect(timers.waits).toEqual([30_000])
    root = async () => ['a.root-servers.net']
    timers.fire()
    await names.check()
    expect(names.readiness()).toEqual({ available: true, engine: 'dns' })
    expect(timers.waits).toEqual([300_000])
    names.stop()
    expect(timers.waits).toEqual([])
  })

  test('one that denies the root is cut off; one that knows no name servers answers', async () => {
    const isWellAfter = async (code: string) => {
      const names = new NameSystem([], {
        ...serversThat({ resolveNs: () => answer(code) }),
        timers: new ManualTimers(),
      })
      await names.check()
      return names.readiness().available
    }
    expect(await isWellAfter('ENOTFOUND')).toBe(false)
    expect(await isWellAfter('ESERVFAIL')).toBe(false)
    expect(await isWellAfter('ENODATA')).toBe(true)
  })

  test('a look that is under way ends when the looks do', async () => {
    let giveUp: (error: Error) => void = () => {}
    const resolveNs = () => new Promise<string[]>((_, reject) => (giveUp = reject))
    const cancel = () => giveUp(Object.assign(new Error(), { code: 'ECANCELLED' }))
    const timers = new ManualTimers()
    const names = new NameSystem([], { ...serversThat({ resolveNs, cancel }), timers })
    const looking = names.check()
    names.stop()
    await looking
    expect(names.readiness()).toMatchObject({ available: false })
    expect(timers.waits).toEqual([])
  })

  test('servers that fall silent are noticed by the next question', async () => {
    let isSilent = false
    const servers = serversThat({
      resolve4: () => answer('ETIMEOUT'),
      resolve6: () => answer('ETIMEOUT'),
      resolveNs: async () => (isSilent ? answer('ETIMEOUT') : ['a.root-servers.net']),
    })
    const names = new NameSystem([], { ...servers, timers: new ManualTimers() })
    await names.check()
    isSilent = true
    await names.lookUp('a.example', NEVER)
    await names.check()
    expect(names.readiness()).toMatchObject({ available: false })
  })
})
