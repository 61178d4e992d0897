import type { Asked } from './ledger-requests.ts'

const MCP = { accept: 'application/json, text/event-stream' }
const TASK_MESSAGE = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'node-network-stats' }] }

function request(method: string, params: object = {}): object {
  return { jsonrpc: '2.0', id: 1, method, params }
}

/** Requests to the two JSON-RPC interfaces, MCP and A2A. Some are served, some refused. */
export const DOOR_REQUESTS: Readonly<Record<string, Asked>> = {
  callMcp: (send) => [
    send('/api/mcp', request('tools/list'), MCP),
    send('/api/mcp?net=mainnet', request('tools/call', { name: 'node_status' }), MCP),
    send('/api/mcp', request('tools/call', { name: 'node-network-stats' }), MCP),
    send('/api/mcp', request('tools/call', { name: 'nothing' }), MCP),
    send('/api/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, MCP),
    send('/api/mcp', request('ping')),
    send('/api/mcp', request('ping'), { ...MCP, origin: 'https://evil.example' }),
    send('/api/mcp?net=other', request('ping'), MCP),
    send('/api/mcp', [], MCP),
    send('/api/mcp', '{', MCP),
    send('/api/mcp', 'x', { 'content-type': 'text/plain' }),
  ],
  callA2a: (send) => [
    send('/a2a', request('SendMessage', { message: TASK_MESSAGE })),
    send('/a2a', request('GetTask', { id: 'none' })),
    send('/a2a', request('Nothing')),
    send('/a2a', {}),
    send('/a2a', '{'),
    send('/a2a', 'x', { 'content-type': 'text/plain' }),
  ],
}
