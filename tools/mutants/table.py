"""What is tested by mutants, and by which tests: file of the package → test files, those that know it best first."""

TESTS = {
    "specdec_lab/engine/verify.py": "tests/test_exact.py tests/test_sampling.py tests/test_trace.py",
    "specdec_lab/engine/rules.py": "tests/test_block.py tests/test_trees.py tests/test_records.py",
    "specdec_lab/engine/sampling.py": "tests/test_sampling.py tests/test_exact.py",
    "specdec_lab/engine/trace.py": "tests/test_trace.py tests/test_trees.py",
    "specdec_lab/engine/decode.py": "tests/test_any_run.py tests/test_rounds.py tests/test_trace.py tests/test_trees.py tests/test_records.py tests/test_batch.py tests/test_exact.py tests/test_processors.py",
    "specdec_lab/engine/batch.py": "tests/test_any_run.py tests/test_batch.py",
    "specdec_lab/engine/lockstep.py": "tests/test_any_run.py tests/test_batch.py tests/test_lockstep.py",
    "specdec_lab/engine/processors.py": "tests/test_processors.py tests/test_trees.py",
    "specdec_lab/engine/drafter.py": "tests/test_lockstep.py tests/test_drafters.py tests/test_trace.py",
    "specdec_lab/engine/enumeration.py": "tests/test_block.py",
    "specdec_lab/models/tree.py": "tests/test_models.py tests/test_trees.py",
    "specdec_lab/theory.py": "tests/test_theory.py tests/test_measure.py",
    "specdec_lab/formats.py": "tests/test_formats.py",
    "specdec_lab/clock.py": "tests/ci/test_cuda_graph.py",
    "specdec_lab/measure/bench.py": "tests/test_decisions.py tests/test_settings.py tests/test_bench.py",
    "specdec_lab/measure/costs.py": "tests/test_measure.py tests/test_serving.py",
    "specdec_lab/measure/results.py": "tests/test_results.py tests/test_bench.py",
    "specdec_lab/measure/roofline.py": "tests/test_measure.py tests/test_bench.py",
    "specdec_lab/measure/serving.py": "tests/test_serving.py",
    "specdec_lab/measure/endpoint.py": "tests/test_endpoint.py tests/test_traffic.py",
    "specdec_lab/measure/traffic.py": "tests/test_decisions.py tests/test_report.py tests/test_traffic.py",
    "specdec_lab/drafters/drawing.py": "tests/test_drawn_from_q.py tests/test_exact.py tests/test_tree_growth.py tests/test_trees.py",
    "specdec_lab/drafters/eagle.py": "tests/test_draft_nets.py",
    "specdec_lab/drafters/early_exit.py": "tests/test_draft_nets.py tests/test_trained_drafters.py",
    "specdec_lab/drafters/hybrid.py": "tests/test_drafters.py",
    "specdec_lab/drafters/copying.py": "tests/test_copying.py",
    "specdec_lab/drafters/medusa.py": "tests/test_draft_nets.py tests/test_trained_drafters.py",
    "specdec_lab/drafters/model.py": "tests/test_draft_nets.py tests/test_drafters.py tests/test_exact.py",
    "specdec_lab/drafters/instruments.py": "tests/test_drafters.py",
    "specdec_lab/drafters/student.py": "tests/test_draft_nets.py",
    "specdec_lab/models/cuda_graph.py": "tests/ci/test_cuda_graph.py",
    "specdec_lab/models/fast.py": "tests/test_fast.py tests/test_models.py",
    "specdec_lab/models/reference.py": "tests/test_damaged_models.py tests/test_models.py",
    "specdec_lab/models/load.py": "tests/test_damaged_models.py tests/test_load.py",
    # What runs in the learner's own process (worker) is not changed by a change in memory.
    "exercises/specdec_grader/notebook.py": "tests/test_grade_notebook.py tests/ci/test_forged_marks.py tests/test_api_input.py",
    "exercises/specdec_grader/learner/process.py": "tests/ci/test_forged_marks.py tests/ci/test_jail.py",
    "exercises/specdec_grader/learner/plain_data.py": "tests/ci/test_forged_marks.py tests/test_api_input.py",
    "exercises/specdec_grader/classroom/report.py": "tests/ci/test_class.py",
    "specdec_lab/measure/prompts.py": "tests/test_reading.py tests/test_input.py tests/test_api_input.py",
    "specdec_lab/course/ledger.py": "tests/test_ledger.py tests/test_progress.py",
    "specdec_lab/course/quiz.py": "tests/test_quiz.py",
    "exercises/specdec_grader/progress_table.py": "tests/test_progress.py",
}

GRADING = "tests/test_grading.py tests/test_mistakes.py tests/test_judges.py"
SHEETS = {  # sheet → what the names of its parts' tests hold, and files that know this sheet alone
    "e01_idle_math": ("1.", ""),
    "e02_draft_then_verify": ("2. or loop", "tests/test_loop_runs.py tests/ci/test_forged_marks.py"),
    "e03_exactly_the_target": ("3. or 3_", ""),
    "e04_acceptance_rate": ("4. or 4_", ""),
    "e05_choosing_gamma": ("5. or 5_", ""),
    "e06_variants": ("6. or improve", ""),
    "e07_when_it_backfires": ("7. or 7_", ""),
    "e08_measure_your_traffic": ("8.", ""),
    "e09_checkpoint": ("9. or checkpoint", "tests/test_checkpoint.py"),
    "e10_trees": ("10. or 10_", ""),
    "e11_todays_designs": ("11. or 11_", ""),
    "e12_your_own_draft": ("12.", ""),
    "fixed_answers": ("9. or checkpoint", "tests/test_checkpoint.py"),
    "watched": ("loop", "tests/test_loop_runs.py tests/ci/test_forged_marks.py"),
}
TESTS |= {
    f"exercises/specdec_grader/sheets/{sheet}.py": f"{files} {GRADING} -k '{names}'".strip()
    for sheet, (names, files) in SHEETS.items()
}
TESTS |= {
    f"exercises/specdec_grader/{file}.py": GRADING
    for file in ("checks", "coerce", "guard", "mistake", "mistakes", "part", "question")
}
