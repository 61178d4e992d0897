/** The used part of node-llama-cpp 3.22, which operators install to run a model in this process. */
export interface LlamaPackage {
  readonly getLlama: (options: {
    readonly gpu: false
    readonly build: 'never'
    readonly skipDownload: true
    readonly maxThreads: number
    readonly progressLogs: false
    readonly logLevel: 'disabled'
  }) => Promise<Llama>
  /** Slow for an unknown template. */
  readonly resolveChatWrapper: (model: LlamaModel) => object
  readonly LlamaChatSession: new (options: {
    readonly contextSequence: LlamaSequence
    readonly chatWrapper: object
  }) => LlamaSession
}

/** The engine of the package. */
export interface Llama {
  readonly loadModel: (options: { readonly modelPath: string }) => Promise<LlamaModel>
  readonly createGrammarForJsonSchema: (schema: Readonly<Record<string, unknown>>) => Promise<object>
  readonly dispose: () => Promise<void>
}

/** A loaded model. */
export interface LlamaModel {
  readonly fileInfo: { readonly metadata: { readonly general?: { readonly name?: string } } }
  readonly createContext: (options: { readonly contextSize: number }) => Promise<LlamaContext>
}

/** Memory for conversations. */
export interface LlamaContext {
  readonly getSequence: () => LlamaSequence
}

/** One conversation. */
export interface LlamaSequence {
  readonly tokenMeter: {
    readonly getState: () => { readonly usedInputTokens: number; readonly usedOutputTokens: number }
  }
  readonly dispose: () => void
}

/** An earlier message. */
export type LlamaHistoryItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly string[] }

/** A conversation that can be continued. */
export interface LlamaSession {
  readonly setChatHistory: (history: LlamaHistoryItem[]) => void
  readonly promptWithMeta: (
    prompt: string,
    options: {
      readonly signal: AbortSignal
      readonly maxTokens: number
      readonly temperature: number
      readonly seed: number
      readonly topP?: number
      readonly customStopTriggers?: readonly string[]
      readonly onTextChunk: (text: string) => void
      readonly grammar?: object
    },
  ) => Promise<{ readonly responseText: string; readonly stopReason: string }>
}

/** The name is assembled, so that the compiler does not require the package to be installed. */
export async function loadLlamaPackage(): Promise<LlamaPackage> {
  const name: string = ['node', 'llama', 'cpp'].join('-')
  return (await import(name)) as LlamaPackage
}
