import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { REMOTE_ADDRESSES_MAX } from '../../../miner/seats.ts'
import { ask, post, verdict } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'

let server: ApiServer
beforeEach(async () => {
  server = await ApiServer.open({}, null, undefined, { trustProxy: true })
})
afterEach(() => server.close())

const rewarded = (name: string): string =>
  formatAddress('dfar', createHash('sha256').update(name).digest('hex') as Address)

const template = (name: string, from: string) =>
  ask<{ readonly jobId: string }>(server.url, `/api/v1/mining/template?address=${rewarded(name)}`, {
    headers: { 'x-forwarded-for': from },
  })

describe('the places of external miners', () => {
  it('are not taken by two networks that listen to the same addresses', async () => {
    const over = new AbortController()
    const streams: Promise<unknown>[] = []
    for (let i = 0; i < REMOTE_ADDRESSES_MAX; i++)
      for (const network of ['203.0.113', '198.51.100']) {
        const stream = await fetch(`${server.url}/api/v1/mining/jobs?address=${rewarded(`hostile ${i}`)}`, {
          headers: { 'x-forwarded-for': `${network}.${1 + (i >> 4)}` },
          signal: over.signal,
        })
        streams.push((stream.body as ReadableStream).pipeTo(new WritableStream()).catch(() => {}))
      }
    const got: number[] = []
    for (let i = 0; i < 5; i++) got.push((await template(`newcomer ${i}`, `192.0.2.${i}`)).status)
    over.abort()
    await Promise.all(streams)
    expect(got).toEqual([200, 200, 200, 200, 200])
  })

  it('are not lost to a stranger who names the address of a miner', async () => {
    const { body } = await template('honest', '198.51.100.1')
    const hostile = Array.from({ length: REMOTE_ADDRESSES_MAX - 1 }, (_, i) => `hostile ${i}`)
    for (const name of [...hostile, 'honest', ...hostile]) await template(name, '203.0.113.1')
    await template('one more', '203.0.113.2')
    const solved = { jobId: body.jobId, nonce: '7' }
    const answer = await post(server.url, '/api/v1/mining/submit', solved, { 'x-forwarded-for': '198.51.100.1' })
    expect(verdict(answer)).not.toContain('stale_job')
  })
})
