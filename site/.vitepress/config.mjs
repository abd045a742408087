import fs from 'node:fs'
import path from 'node:path'
import { defineConfig } from 'vitepress'

const root = path.resolve(import.meta.dirname, '../..')
const repository = 'https://github.com/switchyard-dev/switchyard'

const installed = (file) => path.join(root, 'site/node_modules', file)

// url returns where a file of the repository is found: on a page of the site, or in the
// repository. It throws if there is no such file, so that no link is dead.
function url(file) {
  const directory = fs.statSync(path.join(root, file)).isDirectory()
  const page = directory ? path.join(file, 'README.md') : file
  if (!isPage(page) || !fs.existsSync(path.join(root, page))) return `${repository}/${directory ? 'tree' : 'blob'}/main/${file}`
  return '/' + address(page).replace(/(index)?\.md$/, (_, index) => (index ? '' : '.html'))
}

// isPage reports whether a file is a page, which is what srcExclude below leaves.
function isPage(file) {
  return /^([A-Z]+\.md|docs\/.*\.md|plugins\/sdk\/README\.md|site\/commands\/.*\.md)$/.test(file)
}

// address returns the address of a page below the site's root. The pages of the repository's
// root get a directory: SECURITY.md is not docs/security.md.
function address(file) {
  return file.replace(/^(?!README)([A-Z]+\.md)$/, 'project/$1').replace(/^docs\//, '').replace(/^site\//, '').replace(/README\.md$/, 'index.md')
}

// sidebar is the list of the documentation in the README: each row of the table is a
// group of links.
function sidebar() {
  const [, list] = fs.readFileSync(path.join(root, 'README.md'), 'utf8').split('\n## Documentation\n')
  const groups = [...list.matchAll(/^\| ([^|[]+) \| (.*\[.*) \|$/gm)].map(([, text, links]) => ({
    text: text[0].toUpperCase() + text.slice(1),
    collapsed: true,
    items: [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text, file]) => ({ text, link: url(file) })),
  }))
  if (groups.length === 0) throw new Error('README.md has no list of the documentation')
  return [{ text: 'Overview', link: '/' }, ...groups, { text: 'Commands', link: '/commands/' }]
}

// rewriteLinks makes the links between files of the repository links of the site.
function rewriteLinks(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const token of tokens.flatMap((t) => t.children ?? [])) {
      const href = token.attrGet('href')
      if (token.type !== 'link_open' || /^([a-z]+:|#)/.test(href)) continue
      const [file, anchor] = href.split('#')
      const target = path.relative(root, path.resolve(path.dirname(env.realPath ?? env.path), decodeURI(file)))
      token.attrSet('href', url(target) + (anchor ? '#' + anchor : ''))
    }
  })
}

// escapeBraces keeps Vue from taking braces in the text of a page for an expression.
function escapeBraces(md) {
  for (const name of ['text', 'code_inline']) {
    const rule = md.renderer.rules[name]
    md.renderer.rules[name] = (...args) => rule(...args).replaceAll('{{', '&#123;&#123;')
  }
}

export default defineConfig({
  title: 'Switchyard',
  description: 'Decides what happens next when coding agents work in a loop',
  srcDir: root,
  outDir: path.join(root, 'dist/site'),
  srcExclude: ['!(docs|plugins|site)/**/*', 'plugins/!(sdk)/**/*', 'plugins/sdk/*/**'],
  rewrites: address,
  markdown: { html: false, config: (md) => md.use(rewriteLinks).use(escapeBraces), languageAlias: { rego: 'python' } },
  vite: {
    // The pages lie outside the directory in which Vue is installed.
    resolve: { alias: { 'vue/server-renderer': installed('vue/server-renderer/index.mjs'), vue: installed('vue/dist/vue.runtime.esm-bundler.js') } },
    build: { chunkSizeWarningLimit: 4000 }, // The index of the search is large, and is loaded with it.
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
  },
})
