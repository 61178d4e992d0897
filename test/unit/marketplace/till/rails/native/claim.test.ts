import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requestCommitment, requestHash } from '../../../../../../consensus/tx/request-hash.ts'
import { type Claim, isFinished } from '../../../../../../marketplace/till/rails/native/claim.ts'
import { runs } from '../../../../../support/runs.ts'
import { agentId, serviceId } from '../../../../../support/unsigned.ts'

const SECRET = new Uint8Array(32).fill(1)
const CALL = { agentId: agentId('acme'), serviceId: serviceId('summarise'), request: 'a text' }

describe('the hash of a request', () => {
  it('differs with service and text', () => {
    const hashes = [
      requestHash(serviceId('summarise'), 'a text'),
      requestHash(serviceId('summarise'), 'a text '),
      requestHash(serviceId('summarize'), 'a text'),
      requestHash(serviceId('summarise'), ''),
    ]
    expect(new Set(hashes).size).toBe(4)
    expect(requestHash(serviceId('summarise'), 'a text')).toBe(hashes[0])
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('never takes the end of the name for the beginning of the text', () => {
    expect(requestHash(serviceId('node-a'), 'b')).not.toBe(requestHash(serviceId('node-ab'), ''))
    expect(requestHash(serviceId('node-a'), '\u0001b')).not.toBe(requestHash(serviceId('node-a\u0001'), 'b'))
  })
})

describe('the commitment of a payment', () => {
  it('differs with secret, agent, service and text', () => {
    const commitments = [
      requestCommitment(SECRET, CALL),
      requestCommitment(new Uint8Array(32).fill(2), CALL),
      requestCommitment(SECRET, { ...CALL, agentId: agentId('acne') }),
      requestCommitment(SECRET, { ...CALL, serviceId: serviceId('summarize') }),
      requestCommitment(SECRET, { ...CALL, request: 'another text' }),
    ]
    expect(new Set(commitments).size).toBe(5)
    expect(requestCommitment(SECRET, { ...CALL })).toBe(commitments[0])
  })

  it('is another for every other call, wherever the names and the text are cut', () => {
    const names = fc.tuple(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }))
    fc.assert(
      fc.property(names, names, (a, b) => {
        const of = ([agent, service, request]: typeof a) =>
          requestCommitment(SECRET, { agentId: agentId(agent), serviceId: serviceId(service), request })
        expect(of(a) === of(b)).toBe(a.every((part, i) => part === b[i]))
      }),
      { numRuns: runs(300) },
    )
    const of = (agent: string, service: string, request: string) =>
      requestCommitment(SECRET, { agentId: agentId(agent), serviceId: serviceId(service), request })
    expect(new Set([of('ab', 'c', 'd'), of('a', 'bc', 'd'), of('a', 'b', 'cd'), of('abc', '', 'd')]).size).toBe(4)
  })

  it('is not the request hash, which is public', () => {
    expect(requestCommitment(new Uint8Array(0), CALL)).not.toBe(requestHash(CALL.serviceId, CALL.request))
  })
})

describe('a claim', () => {
  it('is finished when it was delivered or failed', () => {
    const states = ['claimed', 'executing', 'delivered', 'failed'] as const
    expect(states.map((state) => isFinished({ state } as Claim))).toEqual([false, false, true, true])
  })
})
