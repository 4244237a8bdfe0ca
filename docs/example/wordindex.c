/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wordindex.c - in which lines which words are, for Python: with a mistake, for
 * docs/heap.md
 *
 *	cc -g -shared -fPIC $(pkg-config --cflags python3) wordindex.c \
 *		-o wordindex.so
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <assert.h>

struct index {
	PyObject_HEAD
	PyObject *words;	/* a dictionary: lists of numbers, by words */
	long lines;
};

static PyObject *index_new(PyTypeObject *type, PyObject *arguments,
			   PyObject *keywords)
{
	struct index *index = (struct index *)type->tp_alloc(type, 0);

	(void)arguments;
	(void)keywords;
	if (!index)
		return NULL;
	index->words = PyDict_New();
	if (!index->words) {
		Py_DECREF(index);
		return NULL;
	}
	return (PyObject *)index;
}

static void index_free(PyObject *self)
{
	Py_XDECREF(((struct index *)self)->words);
	Py_TYPE(self)->tp_free(self);
}

/* The lines of a word: a list that is new, if the word is. */
static PyObject *lines_of(struct index *index, PyObject *word)
{
	PyObject *lines = PyDict_GetItemWithError(index->words, word);

	if (lines || PyErr_Occurred())
		return lines;
	lines = PyList_New(0);
	if (lines && PyDict_SetItem(index->words, word, lines)) {
		Py_DECREF(lines);
		return NULL;
	}
	return lines;
}

static int add_word(struct index *index, PyObject *word)
{
	PyObject *lines = lines_of(index, word);
	PyObject *number = PyLong_FromLong(index->lines);
	int rc = -1;

	if (lines && number)
		rc = PyList_Append(lines, number);
	Py_XDECREF(number);
	Py_XDECREF(lines);
	return rc;
}

static PyObject *index_add(PyObject *self, PyObject *line)
{
	struct index *index = (struct index *)self;
	PyObject *words = PyUnicode_Split(line, NULL, -1);

	if (!words)
		return NULL;
	index->lines++;
	for (Py_ssize_t i = 0; i < PyList_Size(words); i++) {
		if (add_word(index, PyList_GetItem(words, i))) {
			Py_DECREF(words);
			return NULL;
		}
	}
	Py_DECREF(words);
	Py_RETURN_NONE;
}

static PyObject *index_find(PyObject *self, PyObject *word)
{
	struct index *index = (struct index *)self;
	PyObject *lines = PyDict_GetItemWithError(index->words, word);

	if (!lines)
		return PyErr_Occurred() ? NULL : PyTuple_New(0);
	assert(Py_REFCNT(lines) > 0);	/* that of the dictionary */
	return PyList_AsTuple(lines);
}

static PyMethodDef methods[] = {
	{ "add", index_add, METH_O, "Adds the words of the next line." },
	{ "find", index_find, METH_O, "The lines that have a word." },
	{ 0 }
};

static PyTypeObject type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "wordindex.Index",
	.tp_basicsize = sizeof(struct index),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_new = index_new,
	.tp_dealloc = index_free,
	.tp_methods = methods,
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "wordindex",
	.m_size = -1,
};

PyMODINIT_FUNC PyInit_wordindex(void)
{
	PyObject *made = PyModule_Create(&module);

	if (made && PyModule_AddType(made, &type)) {
		Py_DECREF(made);
		return NULL;
	}
	return made;
}
