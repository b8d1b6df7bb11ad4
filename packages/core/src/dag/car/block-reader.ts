import type { CID } from 'multiformats/cid'
import type { LinksFault } from '../links.ts'
import { type DataStep, stepInData } from './data-step.ts'
import { type Excess, type LinkList, readLinks } from './link-list.ts'
import { type Block, type GetBlock, loadBlock } from './load-block.ts'
import { type PackedNode, readPackedNode } from './packed-node.ts'

/** What a walk asks about a block: its links, what it is as a node of UnixFS, or where a path leads inside of it. */
export type BlockQuestion =
  | { readonly ask: 'links' }
  | { readonly ask: 'node' }
  | { readonly ask: 'step'; readonly segments: readonly string[] }

interface Answers {
  readonly links: LinkList | LinksFault | Excess
  readonly node: PackedNode
  readonly step: DataStep
}

/** The answer to a question. It holds no memory of the block. */
export type BlockAnswer<Question extends BlockQuestion = BlockQuestion> = Answers[Question['ask']]

/** A block, and what was asked about it. */
export interface AnsweredBlock<Question extends BlockQuestion> {
  readonly block: Block
  readonly answer: BlockAnswer<Question>
}

/**
 * Finds blocks and reads them: what walks go by. One that reads elsewhere, or counts, or waits between two blocks, takes the place
 * of the one that `readerOf` makes.
 */
export interface BlockReader {
  /** @throws {DagReadError} `missing`. */
  load(cid: CID): Promise<Block>
  /** @throws {DagReadError} `missing`. */
  read<Question extends BlockQuestion>(cid: CID, question: Question): Promise<AnsweredBlock<Question>>
  /** Called for each link that a walk comes to, whether it is followed or not. A walk waits for what it returns. */
  follow(): Promise<void> | undefined
}

/**
 * Answers a question about the bytes of a block, whose reading can take a second.
 *
 * @param codec - the multicodec of the block's CID.
 * @returns never throws for what is in the bytes: faults are results.
 */
export function answerOf<Question extends BlockQuestion>(
  question: Question,
  codec: number,
  bytes: Uint8Array,
): BlockAnswer<Question> {
  return answerAny(question, codec, bytes) as BlockAnswer<Question>
}

function answerAny(question: BlockQuestion, codec: number, bytes: Uint8Array): BlockAnswer {
  switch (question.ask) {
    case 'links':
      return readLinks(codec, bytes)
    case 'node':
      return readPackedNode(codec, bytes)
    case 'step':
      return stepInData(codec, bytes, question.segments)
  }
}

/** A reader as it is, or one that reads what a function finds, at once. */
export function readerOf(blocks: GetBlock | BlockReader): BlockReader {
  if (typeof blocks !== 'function') return blocks
  return {
    load: (cid) => loadBlock(cid, blocks),
    async read(cid, question) {
      const block = await loadBlock(cid, blocks)
      return { block, answer: answerOf(question, cid.code, block.bytes) }
    },
    follow: () => undefined,
  }
}
