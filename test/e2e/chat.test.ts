import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderPaths } from '../../src/storage/folder.ts'
import { readOperatorToken } from '../../src/storage/operator-token.ts'
import { ask } from '../support/api.ts'
import { ChatDaemon } from '../support/chat-daemon.ts'
import { eventsOf, HELLO, readAll } from '../support/chat-server.ts'
import { Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { HOUSE_TEXT } from '../support/upstreams/openai.ts'

const workshop = new Workshop()
const STOP_MS_MAX = 5_000

function start(): Promise<ChatDaemon> {
  return ChatDaemon.start(workshop, {
    flags: ['--log-level', 'debug'],
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  })
}

describe('a node with the chat platform', () => {
  let chat: ChatDaemon

  beforeAll(async () => {
    chat = await start()
  })
  afterAll(() => chat.close())

  const metric = async (line: string): Promise<number> => {
    const text = await (await fetch(`${chat.url}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find((one) => one.startsWith(`${line} `))
        ?.slice(line.length + 1) ?? 0,
    )
  }

  it('answers with every model, and counts what that took', async () => {
    for (const model of ['model-1', 'model-2', 'model-3', 'model-4'])
      for (const stream of [false, true]) {
        const response = await chat.post({ ...HELLO, model, stream })
        const { text } = await readAll(response)
        expect(response.status, text).toBe(200)
        const said = stream
          ? eventsOf(text)
              .slice(0, -1)
              .map((data) => JSON.parse(data).choices[0]?.delta.content ?? '')
              .join('')
          : JSON.parse(text).choices[0].message.content
        expect(said).toBe(HOUSE_TEXT)
        expect(await metric(`farthing_chat_seconds_count{model="${model}",status="200"}`)).toBe(stream ? 2 : 1)
      }
    expect(await metric('farthing_chat_tokens_total{model="model-1",kind="completion"}')).toBe(22)
  })

  it('notes that the reader left, under the id of the request', async () => {
    chat.fake.profile = 'stall'
    const over = new AbortController()
    const response = await chat.post({ ...HELLO, stream: true }, { signal: over.signal })
    over.abort()
    await until('the model hears it', () => chat.fake.open === 0)
    await until(
      'it is counted',
      async () => (await metric('farthing_chat_seconds_count{model="model-1",status="499"}')) === 1,
    )
    const requestId = response.headers.get('x-request-id')
    const line = await until('it is in the log', () =>
      chat.daemon.log.find((one) => one.msg === 'chat' && one.requestId === requestId),
    )
    expect(line).toMatchObject({ model: 'model-1', status: 499, firstPieceSeconds: expect.any(Number) })
    chat.fake.profile = 'ok'
  })

  it('notes the same of a request that was not answered at all', async () => {
    chat.fake.profile = 'hang'
    const over = new AbortController()
    chat.post(HELLO, { signal: over.signal }).catch(() => {})
    await until('it is asked', () => chat.fake.open === 1)
    over.abort()
    const line = await until('it is in the log', () =>
      chat.daemon.log.find((one) => one.msg === 'answered' && one.status === 499),
    )
    expect(line).toMatchObject({ method: 'POST', route: '/api/v1/chat/completions' })
    chat.fake.profile = 'ok'
  })

  it('writes neither keys nor what is said into its log', async () => {
    const { stderr, stdout } = chat.daemon.program
    for (const secret of [chat.key, chat.key.slice(12), chat.fake.key, HOUSE_TEXT, HELLO.messages[0]!.content])
      expect(stderr + stdout).not.toContain(secret)
  })
})

describe('a node that stops', () => {
  it('ends chats at once, each as one that did not come to its end, and what they used is kept', async () => {
    const chat = await start()
    await chat.post(HELLO)
    chat.fake.profile = 'stall'
    const begun = await Promise.all([1, 2, 3].map(() => chat.post({ ...HELLO, stream: true })))
    chat.fake.profile = 'hang'
    const waiting = [1, 2, 3].map(() => chat.post(HELLO).then(({ status }) => status))
    await until('all are asked', () => chat.fake.open === 6)
    const beganMs = performance.now()
    const ended = chat.daemon.stop()
    expect(await Promise.all(waiting)).toEqual([503, 503, 503])
    for (const { text, isCut } of await Promise.all(begun.map(readAll))) {
      expect(isCut).toBe(true)
      expect(text).not.toContain('[DONE]')
      expect(text).toContain('"code":"node_stopping"')
    }
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - beganMs).toBeLessThan(STOP_MS_MAX)
    expect(chat.fake.open).toBe(0)
    expect(chat.daemon.log.filter(({ level }) => Number(level) >= 50)).toEqual([])
    await chat.fake.close()
    const again = await workshop.start(chat.daemon.dataDir, { mine: 0 })
    const token = await readOperatorToken(folderPaths(again.dataDir).operatorToken)
    const { body } = await ask(again.url, '/api/v1/keys', { headers: { authorization: `Bearer ${token}` } })
    expect(JSON.stringify(body)).not.toContain(chat.key)
    // One chat was answered with its token count. The prompts of the other six, already sent to models, are estimated.
    expect(body.keys).toMatchObject([{ usedInAll: { requests: 7, promptTokens: 7 + 6 * 6 } }])
    await again.stop()
  })
})
