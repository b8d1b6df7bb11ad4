/** What the pages below load and run: nothing but their own styles. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

/** A page with plain styles and no scripts. `title` and `body` are HTML. */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lade: ${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
a { color: #0b57d0 } code, pre { font-family: ui-monospace, monospace; font-size: .9em }
pre { padding: .8rem 1rem; overflow-x: auto; background: #f4f4f4 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .4rem .8rem; border-bottom: 1px solid #ddd; vertical-align: top }
tr:target { background: #fff3c4 }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #111 } a { color: #8ab4f8 } pre { background: #1c1c1c }
  td, th { border-color: #333 } tr:target { background: #443c10 }
}
</style>
${body}
</html>
`
}
