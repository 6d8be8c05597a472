A := $(dir $(lastword $(MAKEFILE_LIST)))
include $(A)theme.mk

.PHONY: clean
report.html:
	@{ echo '<!doctype html><meta charset=utf-8><title>Status</title><style>$(THEME)</style>'; \
	  echo '<h1>Status</h1><h2>Files</h2><pre>'; \
	  git ls-files | sed 's/.*\.//' | sort | uniq -c | sort -rn | head; \
	  echo '</pre><h2>Recent commits</h2><pre>'; \
	  git log -15 --format='%h %ad %s' --date=short | sed 's/&/\&amp;/g; s/</\&lt;/g'; \
	  echo '</pre><h2>To do</h2><pre>'; \
	  git grep -nE 'TODO|FIXME' | head -40 | sed 's/&/\&amp;/g; s/</\&lt;/g'; \
	  echo '</pre>'; } > $@
	@echo "wrote $@"

clean:
	@rm -f report.html
