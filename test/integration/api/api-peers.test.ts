import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OperatorClient } from '../../../rpc/client/operator-client.ts'
import { ask, type JsonBody, type Reply } from '../../support/api.ts'
import { ApiServer, OPERATOR_TOKEN } from '../../support/api-server.ts'
import { FakeNetwork } from '../../support/fake-network.ts'
import { ApiChecker, type ApiDocument } from '../../support/openapi-check.ts'
import { addressOf, peerId } from '../../support/peering.ts'
import { type Finished, Program, removeFolder, temporaryFolder } from '../../support/processes.ts'
import { ROOT } from '../../support/source-tree.ts'

const network = new FakeNetwork()
const TOKEN = OPERATOR_TOKEN
const BANS = '/api/v1/peers/bans'
const checker = new ApiChecker(JSON.parse(readFileSync(join(ROOT, 'rpc/openapi.json'), 'utf8')) as ApiDocument)
let server: ApiServer
let lonely: ApiServer

beforeAll(async () => {
  server = await ApiServer.open({}, network)
  lonely = await ApiServer.open()
})

afterAll(async () => {
  await Promise.all([server.close(), lonely.close()])
})

interface Sent {
  readonly method?: string
  readonly body?: object
  readonly authorization?: string
  readonly url?: string
}

function send(path: string, { method = 'GET', body, authorization, url = server.url }: Sent = {}): Promise<Reply> {
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  return ask(url, path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
}

const BEARER = `Bearer ${TOKEN}`
/** Operations for the operator only. */
const GUARDED = [
  ['listBans', BANS, {}],
  ['banPeer', BANS, { method: 'POST', body: { peer: peerId(3) } }],
  ['unbanPeer', `${BANS}/${peerId(3)}`, { method: 'DELETE' }],
] as const

describe('the status', () => {
  it('says how far the node is on its way to the head, and nothing without peers', async () => {
    const [reply, alone] = [await send('/api/v1/status'), await send('/api/v1/status', { url: lonely.url })]
    expect([checker.misfits('getStatus', reply), checker.misfits('getStatus', alone)]).toEqual([[], []])
    expect(reply.body.sync).toEqual(network.sync())
    expect(alone.body.sync).toBeNull()
    expect(alone.body).toMatchObject({ executedFrom: 0, indexedFrom: 0, held: { bodiesFrom: 0, witnessesFrom: 0 } })
  })
})

describe('the list of peers', () => {
  it('shows addresses only to the operator', async () => {
    const wrong = ['Bearer ', `Bearer ${'5e'.repeat(31)}5f`, `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN}0`]
    for (const authorization of [undefined, ...wrong]) {
      const reply = await send('/api/v1/peers', authorization === undefined ? {} : { authorization })
      expect(reply.status).toBe(200)
      expect(checker.misfits('listPeers', reply)).toEqual([])
      expect(reply.text).not.toContain('60.')
      expect((reply.body.peers as JsonBody[]).map(({ id, address }) => [id, address])).toEqual([
        [peerId(1), null],
        [peerId(2), null],
      ])
    }
    const told = await send('/api/v1/peers', { authorization: BEARER })
    expect(checker.misfits('listPeers', told)).toEqual([])
    expect(told.body).toMatchObject({ enabled: true, bans: 0 })
    expect((told.body.peers as JsonBody[])[0]).toEqual({
      id: peerId(1),
      address: addressOf(1, '60.1.0.1'),
      direction: 'inbound',
      agent: 'farthing/1',
      height: 7,
      totalWork: '1180591620717411303424',
      mode: 'full',
      latencyMs: 1.5,
      connectedSince: '2023-11-14T22:13:20.000Z',
      bytesIn: 10,
      bytesOut: 20,
      points: 12,
      misbehaviour: { timeout: 1 },
      protected: false,
    })
  })

  it('is empty without a peer network', async () => {
    const reply = await send('/api/v1/peers', { url: lonely.url, authorization: BEARER })
    expect(checker.misfits('listPeers', reply)).toEqual([])
    expect(reply.body).toEqual({ enabled: false, peers: [], bans: 0 })
  })
})

describe('bans', () => {
  it.each(GUARDED)('%s takes the token of the operator and nothing else', async (operation, path, request) => {
    const tokens = ['', 'Bearer', `Bearer ${TOKEN.slice(1)}`, `Bearer ${TOKEN.toUpperCase()}`, `Basic ${TOKEN}`]
    for (const authorization of [undefined, ...tokens]) {
      const reply = await send(path, { ...request, ...(authorization === undefined ? {} : { authorization }) })
      expect(checker.misfits(operation, reply)).toEqual([])
      expect([reply.status, reply.body.code]).toEqual([401, 'unauthorized'])
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect(network.bans()).toEqual([])
  })

  it.each(GUARDED)('%s says so without a peer network', async (operation, path, request) => {
    const reply = await send(path, { ...request, authorization: BEARER, url: lonely.url })
    expect(checker.misfits(operation, reply)).toEqual([])
    expect([reply.status, reply.body.code]).toEqual([503, 'network_disabled'])
  })

  it('are set, listed and lifted, by id and by address', async () => {
    const authorization = BEARER
    for (const [body, target, hours] of [
      [{ peer: peerId(3) }, peerId(3), 24],
      [{ ip: '2A00:1:0:0::1', hours: 48 }, '2a00:1::1', 48],
    ] as const) {
      const reply = await send(BANS, { method: 'POST', authorization, body })
      expect(checker.misfits('banPeer', reply)).toEqual([])
      const { since, until } = reply.body as { since: string; until: string }
      expect(reply.body).toMatchObject({ target, reason: 'the operator' })
      expect(Date.parse(until) - Date.parse(since)).toBe(hours * 3_600_000)
    }
    const list = await send(BANS, { authorization })
    expect(checker.misfits('listBans', list)).toEqual([])
    expect((list.body.bans as JsonBody[]).map(({ target }) => target).toSorted()).toEqual([peerId(3), '2a00:1::1'])
    for (const target of [peerId(3), '2a00:1::1']) {
      const lifted = await send(`${BANS}/${encodeURIComponent(target)}`, { method: 'DELETE', authorization })
      expect(checker.misfits('unbanPeer', lifted)).toEqual([])
      expect(lifted.body).toMatchObject({ target })
      const again = await send(`${BANS}/${encodeURIComponent(target)}`, { method: 'DELETE', authorization })
      expect([again.status, again.body.code]).toEqual([404, 'peer_not_banned'])
    }
    expect(network.bans()).toEqual([])
  })

  it('are refused without a clear peer and duration', async () => {
    const both = { peer: peerId(3), ip: '60.0.0.1' }
    const bodies = [{}, both, { peer: 7 }, { peer: '' }, { ip: '60.0.0.1', hours: 0 }, { ip: '60.0.0.1', hours: 8_761 }]
    for (const body of [...bodies, { ip: '60.0.0.1', hours: 1.5 }, { ip: '60.0.0.1', more: 1 }]) {
      const reply = await send(BANS, { method: 'POST', authorization: BEARER, body })
      expect([reply.status, reply.body.code], JSON.stringify(body)).toEqual([400, 'invalid_request'])
      expect(checker.misfits('banPeer', reply)).toEqual([])
    }
    for (const body of [{ peer: 'nobody' }, { ip: '60.0.0' }]) {
      const reply = await send(BANS, { method: 'POST', authorization: BEARER, body })
      expect([reply.status, reply.body.code]).toEqual([400, 'invalid_peer_address'])
    }
    expect(network.bans()).toEqual([])
    expect(server.errors).toEqual([])
  })

  it('are available in the SDK', async () => {
    const client = new OperatorClient(server.url, TOKEN)
    expect(await client.ban({ peer: peerId(4) }, 2)).toMatchObject({ ok: true, value: { target: peerId(4) } })
    expect(await client.bans()).toMatchObject({ ok: true, value: [{ target: peerId(4), reason: 'the operator' }] })
    expect(await client.unban(peerId(4))).toMatchObject({ ok: true, value: { target: peerId(4) } })
    expect(await client.unban(peerId(4))).toMatchObject({ ok: false, fault: { code: 'cli/refused' } })
    expect(await client.peers()).toMatchObject({
      value: { enabled: true, peers: [{ address: addressOf(1, '60.1.0.1') }, {}] },
    })
    const caller = new OperatorClient(server.url, null)
    expect(await caller.peers()).toMatchObject({ value: { peers: [{ address: null }, {}] } })
    expect(await caller.bans()).toMatchObject({ ok: false, fault: { code: 'cli/refused' } })
  })
})

describe('the commands', () => {
  const folder = temporaryFolder()
  afterAll(() => removeFolder(folder))

  function farthing(...args: readonly string[]): Promise<Finished> {
    const all = [...args, '--rpc', server.url, '--data-dir', folder]
    return new Program({ entry: join(ROOT, 'src/main.ts'), args: all }).finished()
  }

  it('use the token of the data folder', async () => {
    mkdirSync(folder, { recursive: true })
    const before = await farthing('ban', '60.9.0.1')
    expect(before).toMatchObject({ code: 1, stdout: '' })
    expect(before.stderr).toContain('unauthorized')
    const hidden = await farthing('peers')
    expect(hidden.code).toBe(0)
    expect(hidden.stdout).toContain(peerId(1))
    expect(hidden.stdout).not.toContain('60.1.0.1')
    writeFileSync(join(folder, 'operator.token'), `${TOKEN}\n`)
    expect((await farthing('peers')).stdout).toContain(addressOf(1, '60.1.0.1'))
    const banned = await farthing('ban', '60.9.0.1', '--hours', '2')
    expect(banned).toMatchObject({ code: 0, stderr: '' })
    expect(banned.stdout).toMatch(/^60\.9\.0\.1 is kept away until 20/)
    expect((await farthing('peers', '--bans')).stdout).toContain('60.9.0.1')
    expect(JSON.parse((await farthing('peers', '--json')).stdout)).toMatchObject({ enabled: true, bans: 1 })
    expect((await farthing('unban', '60.9.0.1')).stdout).toBe('60.9.0.1 may connect again\n')
    expect((await farthing('unban', '60.9.0.1')).code).toBe(1)
    expect(network.bans()).toEqual([])
  })

  it('refuse invalid words', async () => {
    for (const args of [['ban'], ['unban'], ['ban', 'x', 'y'], ['ban', '60.9.0.1', '--hours', 'x']])
      expect((await farthing(...args)).code, args.join(' ')).toBe(2)
    const missing = await farthing('peers', '--token-file', join(folder, 'nothing'))
    expect(missing.stderr).toContain('there is no token in it')
    expect((await farthing('ban', '60.9.0.1', '--hours', '0')).code).toBe(2)
    expect(network.bans()).toEqual([])
  })
})
