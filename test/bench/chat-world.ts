import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { keyOf } from '../support/daemon-key.ts'
import { removeFolder, temporaryFolder, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { type Server, startServer } from './processes.ts'
import { nowMs } from './report.ts'

/** Order for the model of the benchmark; its JSON is the text of the question. */
export interface UpstreamPlan {
  readonly name: string
  readonly pieces: number
  readonly everyMs: number
}

/** Through the daemon, through a process that only forwards bytes, or straight from the model. */
export type Way = 'node' | 'relay' | 'straight'

/** The times of a stream that was read. */
export interface ReadStream {
  readonly status: number
  /** Moment of the question, and of the first byte of the answer's text. */
  readonly askedMs: number
  readonly firstMs: number
  /** Time that the model took between the question and its first word. */
  readonly thoughtMs: number
  /** Travel time of each piece. */
  readonly piecesMs: readonly number[]
  readonly isDone: boolean
}

const UNLIMITED = {
  FARTHING_P2P_ENABLED: 'false',
  FARTHING_WEB_ENABLED: 'false',
  FARTHING_RPC_RATE_CHAT: '100000000',
  FARTHING_CHAT_KEY_RPM: '1000000',
  FARTHING_CHAT_KEY_TPD: '100000000000',
  FARTHING_CHAT_KEY_CONCURRENT_MAX: '1000',
}
/** A piece of the model: the time of its sending, with the time of the question before it in the first piece. */
const MOMENT = /"content":"(?:([0-9.]+)>)?([0-9.]+);"/g

/** A daemon as shipped, with a model behind it in its own process. */
export class ChatBench {
  readonly daemon: Server
  readonly #upstream: Server
  readonly #relay: Server
  readonly #key: string
  readonly #folder: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

  private constructor(parts: { daemon: Server; upstream: Server; relay: Server; key: string; folder: string }) {
    this.daemon = parts.daemon
    this.#upstream = parts.upstream
    this.#relay = parts.relay
    this.#key = parts.key
    this.#folder = parts.folder
  }

  static async open(flags: readonly string[] = []): Promise<ChatBench> {
    const folder = temporaryFolder()
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir)
    const upstream = await startServer(join(ROOT, 'test/bench/chat-upstream-entry.ts'), [])
    const relay = await startServer(join(ROOT, 'test/bench/chat-relay-entry.ts'), [String(upstream.port)])
    const path = join(folder, 'models.json')
    writeFileSync(path, modelsFile(upstream.port))
    const args = ['start', '--data-dir', dataDir, '--rpc-port', '0', '--mine-threads', '0', ...flags]
    const env = { ...UNLIMITED, FARTHING_MODELS_FILE: path, NODE_OPTIONS: process.env.BENCH_DAEMON_OPTIONS ?? '' }
    const daemon = await startServer(join(ROOT, 'src/main.ts'), args, env)
    const url = `http://127.0.0.1:${daemon.port}`
    await until('the model was looked at', async () =>
      (await (await fetch(`${url}/v1/models`)).text()).includes('true'),
    )
    return new ChatBench({ daemon, upstream, relay, key: await keyOf({ url, dataDir }), folder })
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    await Promise.all([this.daemon, this.#relay, this.#upstream].map(({ program }) => program.end('SIGTERM')))
    removeFolder(this.#folder)
  }

  /** Reads a stream of model-1. */
  read(plan: UpstreamPlan, way: Way = 'node', signal?: AbortSignal): Promise<ReadStream> {
    const { port } = { node: this.daemon, relay: this.#relay, straight: this.#upstream }[way]
    const body = JSON.stringify({
      model: 'model-1',
      stream: true,
      messages: [{ role: 'user', content: JSON.stringify(plan) }],
    })
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' }
    const askedMs = nowMs()
    return new Promise((resolve, reject) => {
      const place = { host: '127.0.0.1', port, path: '/v1/chat/completions', method: 'POST', agent: this.#agent }
      const sent = request({ ...place, headers, ...(signal && { signal }) }, (response) => {
        const piecesMs: number[] = []
        let [firstMs, thoughtMs, isDone, rest] = [0, 0, false, '']
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          const atMs = nowMs()
          rest += text
          const end = rest.lastIndexOf('\n\n')
          if (end < 0) return
          for (const [, heardMs, saidMs] of rest.slice(0, end).matchAll(MOMENT)) {
            piecesMs.push(atMs - Number(saidMs))
            if (heardMs !== undefined) thoughtMs = Number(saidMs) - Number(heardMs)
          }
          isDone ||= rest.includes('data: [DONE]')
          rest = rest.slice(end)
          if (piecesMs.length > 0) firstMs ||= atMs
        })
        const status = response.statusCode ?? 0
        response.on('close', () => resolve({ status, askedMs, firstMs, thoughtMs, piecesMs, isDone }))
        response.on('error', () => {})
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** When the model saw readers leave, by the names of their plans. */
  async gone(): Promise<ReadonlyMap<string, number>> {
    const told = await (await fetch(`http://127.0.0.1:${this.#upstream.port}/gone`)).json()
    return new Map((told as { name: string; atMs: number }[]).map(({ name, atMs }) => [name, atMs]))
  }

  /** A figure of the daemon's metrics. */
  async metric(line: RegExp): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.daemon.port}/metrics`)).text()
    return Number(line.exec(text)?.[1])
  }
}

/** A quantile: the value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}

function modelsFile(port: number): string {
  const model = { id: 'bench', roles: ['fast', 'general'], context: 32_000, supports: ['streamUsage'] }
  const backend = { id: 'bench', baseUrl: `http://127.0.0.1:${port}/v1`, models: [model], concurrency: 600 }
  return JSON.stringify({ backends: [{ ...backend, timeoutMs: 600_000 }] })
}
