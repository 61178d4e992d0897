import { request } from 'node:http'
import { connect } from 'node:net'
import type { JsonBody, Reply } from './api.ts'

/** Sends a request that well-behaved clients cannot send: the path goes out unchanged. */
export function askRaw(
  url: string,
  {
    method = 'GET',
    path,
    headers = {},
    body,
    from,
  }: {
    readonly method?: string
    readonly path: string
    readonly headers?: Readonly<Record<string, string | number>>
    readonly body?: string | Uint8Array
    /** The local address that it comes from. */
    readonly from?: string
  },
): Promise<Reply> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const choices = { hostname, port, method, path, headers, agent: false as const, timeout: 60_000 }
    const sent = request({ ...choices, ...(from !== undefined && { localAddress: from }) }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const pairs = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])
        resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), text, body: objectOf(text) })
      })
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Sends bytes that need not be HTTP. Returns what came back until the other side closed or was silent for `silentMs`. */
export function askBytes(url: string, bytes: string, silentMs = 1_000): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setTimeout(silentMs, () => socket.destroy())
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

function objectOf(text: string): JsonBody {
  try {
    const json: unknown = JSON.parse(text)
    return json !== null && typeof json === 'object' ? (json as JsonBody) : {}
  } catch {
    return {}
  }
}
