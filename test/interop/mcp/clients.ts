import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** Official clients: version 2 without the handshake, version 2 with it, and version 1. */
export const CLIENTS = ['2026-07-28', '2.4.0 with handshake', '1.32.2'] as const
/** One of {@link CLIENTS}. */
export type ClientName = (typeof CLIENTS)[number]

/** A tool in a client's list. */
export interface ToolView {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: object
  readonly outputSchema?: object | undefined
  readonly annotations?: Readonly<Record<string, unknown>> | undefined
}

/** A tool's result from a client. */
export interface ResultView {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** The interface that tests use of any client. */
export interface AgentClient {
  tools(): Promise<readonly ToolView[]>
  call(name: string, args?: object, meta?: object, signal?: AbortSignal): Promise<ResultView>
  resources(): Promise<readonly string[]>
  templates(): Promise<readonly string[]>
  read(uri: string): Promise<string>
  prompts(): Promise<readonly string[]>
  prompt(name: string, args: Readonly<Record<string, string>>): Promise<string>
  readonly instructions: string | undefined
  readonly version: string | undefined
  close(): Promise<void>
}

/** What both versions of clients have in common. */
interface Official {
  listTools(): Promise<{ readonly tools: readonly unknown[] }>
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>
  listResourceTemplates(): Promise<{ readonly resourceTemplates: readonly { readonly uriTemplate: string }[] }>
  readResource(params: { readonly uri: string }): Promise<{ readonly contents: readonly unknown[] }>
  listPrompts(): Promise<{ readonly prompts: readonly { readonly name: string }[] }>
  getPrompt(params: {
    name: string
    arguments: Record<string, string>
  }): Promise<{ readonly messages: readonly unknown[] }>
  getInstructions(): string | undefined
  close(): Promise<void>
}

const INFO = { name: 'interop', version: '1.0.0' }

export async function connect(name: ClientName, url: string): Promise<AgentClient> {
  const endpoint = new URL('/api/mcp?net=mainnet', url)
  if (name === '1.32.2') {
    const client = new OldClient(INFO)
    await client.connect(new OldTransport(endpoint))
    const call: Call = (params, signal) => client.callTool(params, undefined, signal && { signal })
    return wrap(client as unknown as Official, call, () => undefined)
  }
  const client = new Client(INFO, { versionNegotiation: { mode: name === '2026-07-28' ? 'auto' : 'legacy' } })
  await client.connect(new StreamableHTTPClientTransport(endpoint))
  const call: Call = (params, signal) => client.callTool(params, signal && { signal })
  return wrap(client as unknown as Official, call, () => client.getNegotiatedProtocolVersion())
}

type Params = { name: string; arguments: Record<string, unknown>; _meta?: Record<string, unknown> }
type Call = (params: Params, signal: AbortSignal | undefined) => Promise<unknown>

function wrap(client: Official, callTool: Call, version: () => string | undefined): AgentClient {
  return {
    tools: async () => (await client.listTools()).tools as readonly ToolView[],
    call: async (name, args = {}, meta, signal) =>
      (await callTool(
        { name, arguments: args as Record<string, unknown>, ...(meta && { _meta: meta as Record<string, unknown> }) },
        signal,
      )) as ResultView,
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: async (uri) => ((await client.readResource({ uri })).contents[0] as { readonly text: string }).text,
    prompts: async () => (await client.listPrompts()).prompts.map((prompt) => prompt.name),
    prompt: async (name, args) => {
      const { messages } = await client.getPrompt({ name, arguments: { ...args } })
      return (messages[0] as { readonly content: { readonly text: string } }).content.text
    },
    get instructions() {
      return client.getInstructions()
    },
    get version() {
      return version()
    },
    close: () => client.close(),
  }
}
