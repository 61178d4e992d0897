import { describe, expect, test } from 'vitest'
import { ok, type Result } from '../../../../consensus/primitives/result.ts'
import { FetchGate, GATE_LIMITS, type GateLimits } from '../../../../src/adapters/fetch-gate.ts'

const NEVER = new AbortController().signal

/** A gate, and reads that last until they are ended. */
function world(limits: Partial<GateLimits>) {
  const gate = new FetchGate({ ...GATE_LIMITS, ...limits })
  const call = new AbortController()
  const readings: Promise<string>[] = []
  const forever = () =>
    new Promise<Result<string>>((resolve) => call.signal.addEventListener('abort', () => resolve(ok('end'))))
  const toldOf = async (reading: Promise<Result<string>>): Promise<string> => {
    const told = await reading
    return told.ok ? told.value : told.fault.code
  }
  const hold = (host: string): Promise<string> => {
    const reading = toldOf(gate.run(host, call.signal, forever))
    readings.push(reading)
    return reading
  }
  const pass = (host: string): Promise<string> => toldOf(gate.run(host, NEVER, async () => ok('read')))
  const end = async (): Promise<readonly string[]> => {
    call.abort()
    return Promise.all(readings)
  }
  return { gate, hold, pass, end }
}

describe('readings that wait', () => {
  test('of one host take only some of the places', async () => {
    const { hold, pass, end } = world({ atOnceMax: 3, perHostMax: 2, waitingMax: 8, waitingPerHostMax: 2 })
    for (let i = 0; i < 4; i++) void hold('slow.example')
    expect(await hold('slow.example')).toBe('web/busy')
    void hold('other.example')
    const waiting = pass('news.example')
    await end()
    expect(await waiting).toBe('read')
  })
})

describe('connections', () => {
  test('to one network of version 6 are counted together: an owner of one address there has them all', () => {
    const { gate } = world({ perAddressMax: 2 })
    const first = gate.connect(['2a00:1:2:3::1'])
    gate.connect(['2a00:1:2:3:ffff::1'])
    expect(gate.connect(['2a00:1:2:3::7'])).toBeNull()
    expect(gate.connect(['2a00:1:2:4::7'])).not.toBeNull()
    expect(gate.connect(['93.184.216.1', '2a00:1:2:3::8'])).toBeNull()
    first?.()
    expect(gate.connect(['2a00:1:2:3::7'])).not.toBeNull()
  })

  test('to one address of version 4 are counted by themselves', () => {
    const { gate } = world({ perAddressMax: 1 })
    expect(gate.connect(['93.184.216.1'])).not.toBeNull()
    expect(gate.connect(['93.184.216.1'])).toBeNull()
    expect(gate.connect(['93.184.216.2'])).not.toBeNull()
  })
})
