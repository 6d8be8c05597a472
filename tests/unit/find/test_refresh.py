"""Where an index lies and what sees meaning: the same for who searches and for who looks."""

from __future__ import annotations

from fakes.embedder import GroupEmbedder

from metier.find.refresh import embedder_for, folder_of_index, index_name
from metier.model import Root

ONE, OTHER = Root("/one", "user", "", ""), Root("/other", "user", "", "")


def test_each_set_of_roots_has_a_folder_of_its_own() -> None:
    folders = {
        folder_of_index("/home/data", roots)
        for roots in ([], [ONE], [OTHER], [ONE, OTHER], [ONE._replace(scope="project")])
    }

    assert 5 == len(folders)
    assert f"/home/data/route/{index_name([ONE])}" in folders


def test_who_named_a_root_makes_no_other_index_of_it() -> None:
    assert index_name([ONE]) == index_name([ONE._replace(told_by="somebody", agent="any")])


def test_without_a_place_for_data_there_is_no_folder() -> None:
    assert folder_of_index(None, [ONE]) is None


def test_a_host_s_own_embedder_is_the_one_unless_vectors_are_off() -> None:
    own = GroupEmbedder()

    assert (own, "") == embedder_for("auto", own)
    assert (None, 'route.vectors is "off"') == embedder_for("off", own)


def test_the_model_that_comes_with_metier_is_there_or_it_is_said_why_not() -> None:
    found, reason = embedder_for("auto", None)

    assert (found is None) == bool(reason)
