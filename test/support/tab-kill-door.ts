import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { callService, quoteService } from '../../rpc/cashier/cashier.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'
import { getTab, listTabReceipts } from '../../rpc/handlers/tabs.ts'
import type { NodeApi } from '../../rpc/node/node-api.ts'
import { type Answer, type ApiRequest, type HandlerOf, isFault } from '../../rpc/server/answer.ts'
import { errorBody, errorHeaders } from '../../rpc/server/faults.ts'

type Found = readonly [handler: unknown, params: Readonly<Record<string, string>>]

/**
 * The doors of tabs over plain HTTP: the real handlers without the rest of the server, which would take longer to start than all
 * else of a seller. `onAnswer` is called before the first byte of the answer to a paid call leaves, and when the last has left.
 */
export function openDoor(node: NodeApi, onAnswer: (when: 'before' | 'after') => void): Promise<Server> {
  const server = createServer((request, response) => {
    answerOf(node, request)
      .then(({ status, headers, content }) => {
        const isServed = request.headers['payment-signature'] !== undefined && status !== 402
        if (isServed) onAnswer('before')
        if (isServed) response.once('finish', () => onAnswer('after'))
        response.writeHead(status, headers)
        response.end(content)
      })
      .catch((error: unknown) => lost(response, error))
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

function lost(response: ServerResponse, error: unknown): void {
  console.error(error)
  response.destroy()
}

async function answerOf(node: NodeApi, request: IncomingMessage) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://seller')
  const [handler, params] = handlerOf(request.method ?? 'GET', pathname.split('/').slice(2))
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const sent = Buffer.concat(chunks).toString()
  const numbers = ['timeMs', 'from', 'limit']
  const query = Object.fromEntries(
    [...searchParams].map(([name, value]) => [name, numbers.includes(name) ? Number(value) : value]),
  )
  const asked = {
    ...{ params, query, body: sent === '' ? {} : JSON.parse(sent), headers: request.headers, accept: '' },
    ...{ address: '127.0.0.1', requestId: 'test', isOperator: false, baseUrl: 'http://seller' },
    signal: new AbortController().signal,
  } as unknown as ApiRequest<never, never, never>
  const answer: Answer | ReturnType<typeof callService> = await (handler as HandlerOf<never, never, never>)(node, asked)
  return written(answer as Answer, pathname)
}

function handlerOf(method: string, [door, name = '', more]: readonly string[]): Found {
  if (door === 'x402') return [method === 'POST' ? callService : quoteService, { serviceId: name }]
  return [more === 'receipts' ? listTabReceipts : getTab, { tabId: name }]
}

function written(answer: Answer, path: string) {
  const type = { 'content-type': 'application/json' }
  if (isFault(answer)) {
    const body = errorBody(answer, { requestId: 'test', accept: '', path })
    return {
      status: httpFault(answer.code).status,
      headers: { ...type, ...errorHeaders(answer) },
      content: JSON.stringify(body),
    }
  }
  if (!('status' in answer)) throw new Error('no answer of these doors is a stream')
  const content = 'json' in answer ? JSON.stringify(answer.json) : answer.content
  return { status: answer.status, headers: { ...type, ...('headers' in answer ? answer.headers : {}) }, content }
}
