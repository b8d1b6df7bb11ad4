import { linkTo } from '../app/route.ts'
import { texts } from '../texts/texts.ts'
import { linkToFolder } from './folder-links.ts'

export interface BreadcrumbsProps {
  /** Of the root. */
  readonly cid: string
  readonly rootName: string
  /** The names that lead from the root to the folder. */
  readonly names: readonly string[]
}

/** The way from all files to the folder that is shown, a link each. */
export function Breadcrumbs({ cid, rootName, names }: BreadcrumbsProps) {
  const { folder: words } = texts.value
  const steps = [
    { name: words.back, href: linkTo('files') },
    { name: rootName, href: linkToFolder(cid) },
    ...names.map((name, at) => ({ name, href: linkToFolder(cid, names.slice(0, at + 1)) })),
  ]
  return (
    <nav class="crumbs" aria-label={words.path}>
      <ol>
        {steps.map(({ name, href }, at) => (
          <li key={href}>
            <a href={href} title={name} aria-current={at === steps.length - 1 ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}
